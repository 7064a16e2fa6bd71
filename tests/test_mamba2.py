"""The Mamba2 mixer against two independent implementations, and its independence of the batch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from zonos.config import AttentionConfig, BackboneConfig, SsmConfig
from zonos.elementwise import silu, softplus
from zonos.mamba2 import STATE_DTYPE, Mamba2, chunked_scan, state_bytes_per_row, state_shapes

DATA = Path(__file__).parent / "data"
CHUNK = 8
LENGTHS = [1, 3, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 7]
TOLERANCE = {"atol": 1e-4, "rtol": 1e-4}

PLAIN = SsmConfig(d_state=16, headdim=16, chunk_size=CHUNK)
GROUPED = SsmConfig(d_state=16, headdim=16, ngroups=2, chunk_size=CHUNK)
# Widths that fill no vector register, and rows that start off alignment.
ODD = SsmConfig(d_state=16, headdim=10, expand=1, chunk_size=CHUNK)
SHAPES = [
    pytest.param(32, PLAIN, id="plain"),
    pytest.param(32, GROUPED, id="grouped"),
    pytest.param(30, ODD, id="odd"),
]


def backbone(d_model: int, ssm: SsmConfig) -> BackboneConfig:
    attention = AttentionConfig(num_heads=2, num_heads_kv=1)
    return BackboneConfig(
        d_model=d_model,
        n_layer=3,
        attn_mlp_d_intermediate=8,
        attn_layer_idx=(0,),
        attn_cfg=attention,
        ssm_cfg=ssm,
    )


def row_by_row(x: Tensor, weight: Tensor) -> Tensor:
    """A row-invariant linear: every row is a product of its own, from memory of its own alignment."""
    return torch.cat([F.linear(row.clone(), weight) for row in x.split(1)])


def make_mixer(d_model: int = 32, ssm: SsmConfig = PLAIN, linear=row_by_row) -> Mamba2:
    torch.manual_seed(5)
    mixer = Mamba2(backbone(d_model, ssm), linear)
    for parameter in (mixer.norm.weight, mixer.D):
        torch.nn.init.normal_(parameter, mean=1.0, std=0.3)
    # From almost no step to large ones, so that decays range from none to total.
    torch.nn.init.uniform_(mixer.dt_bias, -6.0, 2.0)
    return mixer


def frames(n: int, d_model: int = 32, seed: int = 0) -> Tensor:
    return 2 * torch.randn(n, d_model, generator=torch.Generator().manual_seed(seed))


def empty_states(config: BackboneConfig, rows: int) -> tuple[Tensor, Tensor]:
    conv, ssm = state_shapes(config)
    return torch.zeros(rows, *conv), torch.zeros(rows, *ssm)


def run_steps(mixer: Mamba2, x: Tensor, conv_state: Tensor, ssm_state: Tensor) -> Tensor:
    return torch.cat([mixer.step(frame[None], conv_state, ssm_state) for frame in x])


def recurrence(mixer: Mamba2, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The layer as its equations say, one frame after another, in fp64."""
    w = {name: value.double() for name, value in mixer.state_dict().items()}
    heads, groups, width = mixer.heads, mixer.groups, w["conv1d.weight"].shape[-1]
    d_inner, conv_dim = w["norm.weight"].shape[0], w["conv1d.bias"].shape[0]
    window = torch.zeros(conv_dim, width, dtype=torch.float64)
    state = torch.zeros(heads, d_inner // heads, mixer.d_state, dtype=torch.float64)
    outputs = []
    for frame in x.double():
        z, xbc, dt = (w["in_proj.weight"] @ frame).split([d_inner, conv_dim, heads])
        window = torch.cat([window[:, 1:], xbc[:, None]], dim=1)
        mixed = F.silu((window * w["conv1d.weight"][:, 0]).sum(1) + w["conv1d.bias"])
        inputs, b, c = mixed.split([d_inner, groups * mixer.d_state, groups * mixer.d_state])
        inputs = inputs.view(heads, -1)
        b, c = (v.view(groups, -1).repeat_interleave(heads // groups, dim=0) for v in (b, c))
        dt = F.softplus(dt + w["dt_bias"])
        decay = torch.exp(-dt * torch.exp(w["A_log"]))
        state = decay[:, None, None] * state + torch.einsum("h,hp,hn->hpn", dt, inputs, b)
        y = torch.einsum("hpn,hn->hp", state, c) + w["D"][:, None] * inputs
        gated = (y.flatten() * F.silu(z)).view(groups, -1)
        normed = gated / (gated.square().mean(-1, keepdim=True) + 1e-5).sqrt()
        outputs.append(w["out_proj.weight"] @ (normed.flatten() * w["norm.weight"]))
    return torch.stack(outputs), window[:, 1:], state


def transformers_mixer(mixer: Mamba2, d_model: int, ssm: SsmConfig) -> torch.nn.Module:
    from transformers.models.mamba2.configuration_mamba2 import Mamba2Config
    from transformers.models.mamba2.modeling_mamba2 import Mamba2Mixer

    config = Mamba2Config(
        hidden_size=d_model,
        num_hidden_layers=1,
        num_heads=mixer.heads,
        head_dim=ssm.headdim,
        expand=ssm.expand,
        state_size=ssm.d_state,
        n_groups=ssm.ngroups,
        conv_kernel=ssm.d_conv,
        chunk_size=ssm.chunk_size,
        layer_norm_epsilon=1e-5,
        use_bias=False,
        use_conv_bias=True,
    )
    theirs = Mamba2Mixer(config, layer_idx=0)
    theirs.load_state_dict(mixer.state_dict())
    return theirs.eval()


@pytest.fixture(autouse=True)
def _no_grad():
    with torch.no_grad():
        yield


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize(("d_model", "ssm"), SHAPES)
class TestAgreement:
    """Prefill and step give what the equations and transformers give, at lengths around a chunk."""

    def test_prefill_with_fp64_recurrence(self, d_model, ssm, length):
        mixer, x = make_mixer(d_model, ssm), frames(length, d_model)
        y, conv_state, ssm_state = mixer.prefill(x, [length])
        for ours, exact in zip((y, conv_state[0], ssm_state[0]), recurrence(mixer, x), strict=True):
            torch.testing.assert_close(ours.double(), exact, **TOLERANCE)

    def test_step_with_fp64_recurrence(self, d_model, ssm, length):
        mixer, x = make_mixer(d_model, ssm), frames(length, d_model)
        conv_state, ssm_state = empty_states(backbone(d_model, ssm), 1)
        y = run_steps(mixer, x, conv_state, ssm_state)
        for ours, exact in zip((y, conv_state[0], ssm_state[0]), recurrence(mixer, x), strict=True):
            torch.testing.assert_close(ours.double(), exact, **TOLERANCE)

    def test_prefill_then_step_with_transformers(self, d_model, ssm, length):
        mixer, x = make_mixer(d_model, ssm), frames(length + 5, d_model)
        theirs = transformers_mixer(mixer, d_model, ssm)(x[None])[0]
        y, conv_state, ssm_state = mixer.prefill(x[:length], [length])
        stepped = run_steps(mixer, x[length:], conv_state, ssm_state)
        torch.testing.assert_close(torch.cat([y, stepped]), theirs, **TOLERANCE)

    def test_chunked_scan_equals_step_by_step(self, d_model, ssm, length):
        mixer, x = make_mixer(d_model, ssm), frames(length, d_model)
        states = empty_states(backbone(d_model, ssm), 1)
        stepped = run_steps(mixer, x, *states)
        y, *prefilled = mixer.prefill(x, [length])
        torch.testing.assert_close(y, stepped, **TOLERANCE)
        torch.testing.assert_close(prefilled, list(states), **TOLERANCE)


def test_a_hard_reset_keeps_what_follows_exact():
    """After a frame that decays by e^-20000, a difference of two long fp32 sums is off by 1e-3."""
    x, b, c = (frames(CHUNK, 16, seed).view(CHUNK, 1, 16) for seed in range(3))
    dt = torch.linspace(0.01, 0.05, CHUNK)[:, None]
    dt[1] = 20_000.0
    y, _ = chunked_scan(x, dt, torch.tensor([-1.0]), b, c, CHUNK)
    state, exact = torch.zeros(16, 16, dtype=torch.float64), []
    for x_t, dt_t, b_t, c_t in zip(x.double(), dt.double(), b.double(), c.double(), strict=True):
        state = torch.exp(-dt_t) * state + dt_t * torch.outer(x_t[0], b_t[0])
        exact.append(state @ c_t[0])
    assert relative_error(y[:, 0], torch.stack(exact)) < 1e-5


@pytest.mark.parametrize(("d_model", "ssm"), SHAPES)
class TestInvariance:
    """A row's bits do not depend on its neighbours, their number or its place (design, must 2)."""

    def test_packed_equals_alone(self, d_model, ssm):
        mixer = make_mixer(d_model, ssm)
        lens = [5, *LENGTHS, 2]
        parts = [frames(n, d_model, seed) for seed, n in enumerate(lens)]
        y, conv_state, ssm_state = mixer.prefill(torch.cat(parts), lens)
        for i, (part, own) in enumerate(zip(parts, y.split(lens), strict=True)):
            alone = mixer.prefill(part, [len(part)])
            for together, apart in zip(
                (own, conv_state[i : i + 1], ssm_state[i : i + 1]), alone, strict=True
            ):
                assert torch.equal(together, apart)

    @pytest.mark.parametrize("threads", [1, 3])
    @pytest.mark.parametrize("rows", [3, 8, 16])
    def test_step_among_others_equals_alone(self, d_model, ssm, rows, threads):
        mixer = make_mixer(d_model, ssm)
        order = torch.randperm(rows, generator=torch.Generator().manual_seed(rows)).tolist()
        lens = [1 + row % 5 for row in range(rows)]
        packed = torch.cat([frames(n, d_model, seed) for seed, n in enumerate(lens)])
        _, conv_state, ssm_state = mixer.prefill(packed, lens)
        alone = [(conv_state[r : r + 1].clone(), ssm_state[r : r + 1].clone()) for r in range(rows)]
        conv_state, ssm_state = conv_state[order], ssm_state[order]
        with torch_threads(threads):
            for t in range(12):
                x = frames(rows, d_model, seed=100 + t)
                y = mixer.step(x[order], conv_state, ssm_state)
                for place, row in enumerate(order):
                    assert torch.equal(y[place], mixer.step(x[row][None], *alone[row])[0])
        for place, row in enumerate(order):
            assert torch.equal(conv_state[place], alone[row][0][0])
            assert torch.equal(ssm_state[place], alone[row][1][0])


class torch_threads:
    """Runs its body with another number of threads, which split an elementwise kernel elsewhere."""

    def __init__(self, threads: int) -> None:
        self.threads, self.before = threads, torch.get_num_threads()

    def __enter__(self) -> None:
        torch.set_num_threads(self.threads)

    def __exit__(self, *_: object) -> None:
        torch.set_num_threads(self.before)


@pytest.mark.parametrize("function", [silu, softplus])
def test_elementwise_functions_do_not_know_an_elements_place(function):
    """``F.silu`` and ``F.softplus`` round the last elements of a thread's share differently."""
    values = torch.linspace(-120, 120, 977)
    alone = torch.cat([function(value[None]) for value in values])
    assert torch.equal(function(values), alone)
    with torch_threads(3):  # long enough for all three to take part
        assert torch.equal(function(values.expand(150, -1).contiguous()), alone.expand(150, -1))


@pytest.mark.parametrize(("ours", "torchs"), [(silu, F.silu), (softplus, F.softplus)])
def test_elementwise_functions_are_what_their_names_say(ours, torchs):
    values = torch.linspace(-120, 120, 977)
    torch.testing.assert_close(ours(values).double(), torchs(values.double()), atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("rows", [1, 4])
def test_step_traces_without_a_graph_break(rows):
    mixer = make_mixer(linear=F.linear)
    x = frames(rows)
    eager, traced = empty_states(backbone(32, PLAIN), rows), empty_states(backbone(32, PLAIN), rows)
    compiled = torch.compile(mixer.step, fullgraph=True, backend="aot_eager", dynamic=False)
    for t in range(3):
        torch.testing.assert_close(compiled(x + t, *traced), mixer.step(x + t, *eager), atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(traced, eager, atol=1e-6, rtol=1e-5)
    assert any(state.any() for state in traced)


def test_step_works_on_views_of_a_slot_pool():
    """The states of a layer are slices of pools whose rows may lie apart."""
    mixer = make_mixer(ssm=GROUPED)
    config = backbone(32, GROUPED)
    conv_pool, ssm_pool = (torch.zeros(8, 2, *shape) for shape in state_shapes(config))
    plain = empty_states(config, 3)
    x = frames(3)
    y = mixer.step(x, conv_pool[:3, 1], ssm_pool[:3, 1])
    assert torch.equal(y, mixer.step(x, *plain))
    assert torch.equal(conv_pool[:3, 1], plain[0])
    assert torch.equal(ssm_pool[:3, 1], plain[1])
    for pool in (conv_pool, ssm_pool):
        assert not pool[:, 0].any()
        assert not pool[3:].any()


def test_bf16_weights_keep_an_fp32_state():
    """A bf16 state would drift: each of thousands of small steps would be rounded away."""
    mixer = make_mixer(linear=F.linear).to(torch.bfloat16)
    n = 10 * CHUNK
    x = frames(n + 20).to(torch.bfloat16)
    y, conv_state, ssm_state = mixer.prefill(x[:n], [n])
    stepped = run_steps(mixer, x[n:], conv_state, ssm_state)
    assert {y.dtype, stepped.dtype} == {torch.bfloat16}
    assert {conv_state.dtype, ssm_state.dtype} == {STATE_DTYPE}
    exact, _, exact_state = recurrence(mixer, x)
    # Only the two projections round to 8 bits, so the error stays that of one rounding.
    assert relative_error(torch.cat([y, stepped]), exact) < 0.01
    assert relative_error(ssm_state[0], exact_state) < 0.01


def relative_error(ours: Tensor, exact: Tensor) -> float:
    return float((ours.double() - exact).norm() / exact.norm())


def test_real_hybrid_keys_and_shapes():
    """The published checkpoint loads into this layer: same names, same shapes."""
    published: dict[str, list[int]] = json.loads((DATA / "real_hybrid_keys.json").read_text())
    config = BackboneConfig(
        d_model=2048,
        n_layer=46,
        attn_mlp_d_intermediate=8192,
        attn_layer_idx=tuple(range(0, 46, 4)),
        attn_cfg=AttentionConfig(num_heads=16, num_heads_kv=4),
    )
    with torch.device("meta"):
        mixer = Mamba2(config)
    ours = {name: list(tensor.shape) for name, tensor in mixer.state_dict().items()}
    for layer in set(range(config.n_layer)) - set(config.attn_layer_idx):
        prefix = f"backbone.layers.{layer}.mixer."
        theirs = {
            key.removeprefix(prefix): shape for key, shape in published.items() if key.startswith(prefix)
        }
        assert theirs == ours


def test_state_size_is_what_the_states_take():
    config = backbone(32, PLAIN)
    _, conv_state, ssm_state = make_mixer().prefill(frames(3), [3])
    mamba_layers = config.n_layer - len(config.attn_layer_idx)
    assert state_bytes_per_row(config) == mamba_layers * (conv_state.nbytes + ssm_state.nbytes)
    assert (tuple(conv_state.shape[1:]), tuple(ssm_state.shape[1:])) == state_shapes(config)


def test_sequence_lengths_must_cover_the_tokens():
    with pytest.raises(RuntimeError, match="split"):
        make_mixer().prefill(frames(5), [2, 2])
