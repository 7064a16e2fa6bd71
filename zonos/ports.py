"""Addresses to listen on; why one cannot be had, in a sentence."""

from __future__ import annotations

import errno
import os
import socket

MOST = 65_535


class PortError(Exception):
    """An address that cannot be listened on; the message is a sentence for people."""


def listen(host: str, port: int, *, host_option: str, port_option: str, backlog: int = 128) -> socket.socket:
    """A socket that listens.

    Args:
        host: name or number of an address of this machine.
        port: 0 for any that is free.
        host_option: where a person says another host, for the sentence.
        port_option: where a person says another port.
        backlog: connections that may wait.

    Raises:
        PortError: it cannot be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host.strip("[]"), port), family=family, backlog=backlog)
    except (OSError, UnicodeError) as error:
        raise PortError(_why_not(host, port, error, host_option, port_option)) from error


def port_of(text: str) -> int:
    """The port that a person wrote.

    Raises:
        PortError: it is none.
    """
    if not (text.isascii() and text.isdecimal() and int(text) <= MOST):
        raise PortError(f"{text!r} is no port; use 0 to {MOST}.")
    return int(text)


def port_in_environment(variable: str) -> int | None:
    """The port that an environment variable names; None where it says nothing.

    Raises:
        PortError: it names none.
    """
    text = os.environ.get(variable, "").strip()
    try:
        return port_of(text) if text else None
    except PortError as error:
        raise PortError(f"{variable}: {error}") from None


def _why_not(host: str, port: int, error: OSError | UnicodeError, host_option: str, port_option: str) -> str:
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.EADDRINUSE:
        return f"Port {port} is taken by another program; stop that program, or choose another port with {port_option}."
    if number in (errno.EACCES, errno.EPERM):
        return f"Port {port} is kept for the system; choose one from 1024 up with {port_option}."
    return f"This machine has no address {host!r} to listen on; choose another with {host_option}."
