"""Agreement with numbers of the original implementation, fp32 on the CPU."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from golden_tiny import EOS_NAMES, NAMES, OFF, Golden, case, run_to_end

from zonos.cache import StepView
from zonos.codebooks import delay, undelay
from zonos.runner import Runner, guide


@pytest.fixture(scope="module")
def golden() -> Golden:
    return Golden.load()


@pytest.mark.parametrize("name", NAMES)
def test_prefixes(golden: Golden, name: str) -> None:
    cond, uncond = golden.prefixes(name)
    torch.testing.assert_close(cond, golden.tensors[f"{name}/prefix_cond"][0], atol=2e-5, rtol=0)
    torch.testing.assert_close(uncond, golden.tensors[f"{name}/prefix_uncond"][0], atol=2e-5, rtol=0)


@torch.inference_mode()
def logits_of_next_step(runner: Runner) -> torch.Tensor:
    """Guided logits [rows, codebooks, vocabulary] of the step to come; writes keys, moves nothing."""
    runner._reserve_next()
    inputs = runner.step_inputs()
    positions = runner.rows.position[inputs.row_of_lane]
    kv_heads = runner.model.config.backbone.attn_cfg.num_heads_kv
    view = StepView(inputs.blocks, positions, kv_heads)
    runner.state.bind(view)
    x = runner.model.embed_frames(runner.rows.frame[inputs.row_of_lane])
    logits = runner.model.logits(runner.model.backbone.decode(x, positions, runner.state))
    scale = runner.rows.cfg_scale[: inputs.rows]
    return guide(logits[inputs.cond_lane], logits[inputs.twin_lane], scale)


@pytest.mark.parametrize("name", NAMES)
def test_logits_teacher_forced(golden: Golden, name: str) -> None:
    """Prefill and 20 decode steps on given codes."""
    runner = Runner(golden.model, slots=1)
    runner.admit([golden.plan(name)])
    prefix = golden.audio_prefix(name).shape[1]
    delayed = golden.tensors[f"{name}/tf_delayed"].long()
    columns = golden.tensors["tf_logit_columns"].long()
    first = logits_of_next_step(runner)[0, :, :1025]
    torch.testing.assert_close(first, golden.tensors[f"{name}/prefill_logits"], atol=3e-4, rtol=0)
    for i in range(20):
        runner.plans[0].position += 1
        runner.rows.position[0] += 1
        runner.rows.frame[0] = delayed[:, prefix + 1 + i]
        logits = logits_of_next_step(runner)[0][:, columns]
        expected = golden.tensors[f"{name}/tf_logits_cols"][i]
        torch.testing.assert_close(logits, expected, atol=3e-4, rtol=0)


def expected_codes(golden: Golden, name: str, run: str) -> torch.Tensor:
    """Codes of the run with the frame filled by position, without the audio prefix."""
    tensors = golden.tensors
    key = f"{name}/{run}/codes_aligned"
    codes = tensors[key if key in tensors else f"{name}/{run}/codes"]
    base = case(name).get("base_case", name)
    return codes[:, golden.audio_prefix(base).shape[1] :].long()


@pytest.mark.parametrize("run", ["greedy_rp3", "greedy_rp1"])
@pytest.mark.parametrize("name", NAMES)
def test_greedy_codes(golden: Golden, name: str, run: str) -> None:
    penalty = 3.0 if run.endswith("3") else 1.0
    plan = golden.plan(name, replace(OFF, repetition_penalty=penalty))
    codes = run_to_end(Runner(golden.model, slots=1), [plan])[0]
    assert torch.equal(codes.long(), expected_codes(golden, name, run))


@pytest.mark.parametrize("name", EOS_NAMES)
def test_eos_codes(golden: Golden, name: str) -> None:
    c = case(name)
    head = golden.model.heads[0].weight
    kept = head[1024].clone()
    head[1024] = golden.tensors[f"{name}/head0_row1024"]
    try:
        plan = golden.plan(c["base_case"], replace(OFF, repetition_penalty=c["repetition_penalty"]))
        codes = run_to_end(Runner(golden.model, slots=1), [plan])[0]
    finally:
        head[1024] = kept
    if name == "eos_at_prefill_token":
        assert codes.shape[1] == 0  # ours on purpose: an EOS is an EOS
        return
    assert torch.equal(codes.long(), expected_codes(golden, name, "greedy"))


def test_delay_pattern(golden: Golden) -> None:
    codes = golden.tensors["delay_example/codes"].long()
    delayed = delay(codes, 1025)
    assert torch.equal(delayed, golden.tensors["delay_example/delayed"].long())
    assert torch.equal(undelay(delayed), golden.tensors["delay_example/reverted"].long())
