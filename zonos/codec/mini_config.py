"""Shape of the embedded codec: its codec.json, typed."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, model_validator


class MiniCodecConfig(BaseModel):
    """The embedded codec's codec.json.

    Attributes:
        hop: samples per sub-frame, the rate of features and synthesis.
        stride: sub-frames per frame of codes.
        d1: width of the layers at sub-frame rate.
        d2: width of the layers at frame rate.
        n_codebooks: codes per frame that the language model sees, K.
        real_codebooks: how many of them carry sound; the deeper ones are ``constant_code`` when
            encoding and ignored when decoding. Default: all.
        enc_lin_bins: bins ``[first, last)`` of the longer STFT whose magnitudes show the pitch.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    type: str = "dsp_rvq"
    sample_rate: int = 24000
    n_fft: int = 1024
    hop: int = 256
    stride: int = 3
    d1: int = 192
    d2: int = 256
    latent: int = 32
    n_codebooks: int = Field(default=9, ge=1)
    codebook_size: int = Field(default=1024, ge=1)
    real_codebooks: int | None = Field(default=None, ge=1)
    constant_code: int = Field(default=0, ge=0)
    harm_bands: int = 96
    noise_bands: int = 64
    enc_mels: int = 80
    enc_mel_nfft: int = 1024
    enc_lin_nfft: int = 2048
    enc_lin_bins: tuple[int, int] = (5, 85)
    convnext_kernel: int = 7
    convnext_mult: int = 3
    enc_blocks: tuple[int, int] = (2, 2)
    dec_blocks: tuple[int, int] = (2, 3)

    @model_validator(mode="after")
    def _fits(self) -> MiniCodecConfig:
        if self.real > self.n_codebooks or self.constant_code >= self.codebook_size:
            raise ValueError("real_codebooks and constant_code must lie within the codebooks")
        return self

    @property
    def real(self) -> int:
        """Number of codebooks that carry sound."""
        return self.n_codebooks if self.real_codebooks is None else self.real_codebooks

    @property
    def context(self) -> int:
        """Frames that reach into one frame of sound from each side.

        Convolutions up to the bands, then one sub-frame of pitch interpolation and half a window
        each of analysis and synthesis.
        """
        half_kernel = self.convnext_kernel // 2
        frames = 1 + half_kernel * self.dec_blocks[0]
        half_window = -(-self.n_fft // (2 * self.hop))
        subframes = half_kernel * self.dec_blocks[1] + 1 + 2 * half_window
        return frames + -(-subframes // self.stride)
