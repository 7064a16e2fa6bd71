"""Reading and writing sound must not wait for the heavy libraries."""

import os
import subprocess
import sys
from pathlib import Path

HEAVY = ("torch", "torchaudio", "av", "scipy", "pyloudnorm", "dac")


def test_importing_audio_loads_nothing_heavy() -> None:
    code = "import sys, zonos.audio; print(*[m for m in sys.argv[1:] if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code, *HEAVY],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )
    assert done.stdout.split() == []
