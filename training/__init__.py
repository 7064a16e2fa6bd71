"""How the embedded checkpoint is made: from public packages to the shipped files, re-runnable."""
