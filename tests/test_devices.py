"""Cores of a processor that several threads of the product compute on."""

from __future__ import annotations

import pytest
import torch
from engines import mini

from zonos.config import ZonosConfig
from zonos.devices import share_cores


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Numbers of threads that torch was asked for; nothing is set."""
    asked: list[int] = []
    monkeypatch.setattr(torch, "set_num_threads", asked.append)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    return asked


def wide(config: ZonosConfig) -> ZonosConfig:
    return config.model_copy(update={"backbone": config.backbone.model_copy(update={"d_model": 2048})})


def test_a_small_model_on_the_processor_computes_with_one_thread(chosen: list[int]) -> None:
    share_cores(torch.device("cpu"), mini().config)
    assert chosen == [1]


def test_large_models_and_other_devices_keep_their_threads(chosen: list[int]) -> None:
    share_cores(torch.device("cpu"), wide(mini().config))
    share_cores(torch.device("cuda"), mini().config)
    assert chosen == []


def test_who_has_chosen_is_left_alone(chosen: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    share_cores(torch.device("cpu"), mini().config)
    assert chosen == []
