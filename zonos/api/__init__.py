"""The HTTP API: requests of many clients share one batch, results stream back."""

from __future__ import annotations

from zonos.api.app import beside, create_app, mount
from zonos.api.service import Service
from zonos.api.settings import Settings

__all__ = ["Service", "Settings", "beside", "create_app", "mount"]
