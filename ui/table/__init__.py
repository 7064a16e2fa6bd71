"""The table as a Gradio component: a constant template and a loader for the script in ``static/``.

No word of a producer ever enters the template or the component's value: the script fetches rows as
JSON from our own routes and writes them with ``textContent``.
"""

from __future__ import annotations

from pathlib import Path

import gradio as gr

TEMPLATE = '<div class="st-mount"><p class="st-loading">Opening your project …</p></div>'

# ``studioReady`` is made in the page's head, since an event of Gradio's may come before this runs.
LOADER = """
const path = new URL(window.gradio_config?.root ?? '.', location.href).pathname.replace(/\\/$/, '');
import(`${location.origin}${path}/studio/static/main.js`).then(
  (studio) => window.studioMounted(studio.mount(element.querySelector('.st-mount'))),
  () => { element.querySelector('.st-loading').textContent =
    'The page could not load its script. Reload the page.'; },
);
"""

_STATIC = Path(__file__).resolve().parent.parent / "static"
# The scripts are fetched while Gradio starts, not after it.
_PRELOAD = "".join(
    f'<link rel="modulepreload" href="studio/static/{script.name}">'
    for script in sorted(_STATIC.glob("*.js"))
)
HEAD = f"""
<script>window.studioReady = new Promise((resolve) => {{ window.studioMounted = resolve; }});</script>
<link rel="stylesheet" href="studio/static/studio.css">{_PRELOAD}
"""

OPEN = "async (token) => { (await window.studioReady).open(token); }"
REFRESH = "async () => { (await window.studioReady).refresh(); }"


def create_table() -> gr.HTML:
    """The table; it stays empty until a project's token reaches :data:`OPEN`."""
    return gr.HTML(
        value="",
        html_template=TEMPLATE,
        js_on_load=LOADER,
        apply_default_css=False,
        elem_id="studio-table",
        padding=False,
    )
