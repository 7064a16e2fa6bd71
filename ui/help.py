"""The help tab: three steps, and answers to what people ask."""

from __future__ import annotations

import gradio as gr

STEPS = """
### Three steps

1. **Write** your lines in the table, one row a line, or paste them from a spreadsheet. Pick a voice, a
   language and an emotion for each.
2. **Generate pending.** Players fill in as each line finishes; you can go on editing meanwhile.
3. **Listen, re-roll, export.** Make new takes of a single line, star the one you like, save one file or
   all of them.

Everything is saved as you type. Close the tab and come back: your lines, takes and a running job are there.
"""

ANSWERS = {
    "The voice does not sound like the clip": """
Use 10 to 30 seconds of one person who speaks without music, echo or noise; the Voices tab says what a clip
is like. A clip **in the language of the line** helps much: a voice carries its accent along. Several clips
of one person are averaged. Guidance (a line's settings) of 2 to 3 follows the clip more closely.
""",
    "The emotion does not come through": """
The model has learnt emotion together with words: "I am so happy" said angrily works against itself. Change
the words a little, raise one slider and lower *neutral*, or give the line a clip of a voice that already
sounds that way. Pitch variation (20 flat, 150 lively) and speaking rate do as much as the sliders. *auto*
lets the model decide from the text.
""",
    "What a seed promises": """
The same line, voice, model and seed give the same take, alone or among others. On a GPU the last digits may
move with the number of lines in the batch, so that a take made again can differ in a breath. Every take
remembers its seed and settings; *Restore the line of this take* brings them back. Another seed is another
reading of the same line.
""",
    "A line is cut, rambles or repeats": """
Very short lines (one word) and very long ones are the hardest. Join a short one with its neighbour, split a
long one at a sentence, or make three takes and star the best. Takes that are silent, clipped, far too long or
too short are marked in words. Numbers, links and unusual names: see the phonemes in a line's settings, and
put the word into the Dictionary.
""",
    "Pauses, and words said letter by letter": """
Write `[pause 0.5s]` for silence, `[[həˈləʊ]]` for exact phonemes. Other text in square brackets is
not read aloud without a warning on its row.
""",
    "What “changed since” means": """
The line, its voice's clips or a word of the dictionary changed after the take was made. The take is kept and
can be played, starred and exported; the line counts as pending until it is generated again. A line that
failed is not pending: change it, or press *Failed* to try it again as it is.
""",
    "Where my work is": """
In the studio's data folder on the machine that runs it (the address line of `python app.py` names it), never
in the browser. The browser only keeps a key to your project: another browser needs the project as a zip
(Projects tab). On a public Space, save that zip: what nobody opens for two weeks is removed.
""",
    "Two tabs, or two people, on one project": """
Each sees the other's changes within moments; different lines and different fields of a line simply come
together. Where both change the same field, the first one stays. The other's own words are kept under the
row, with a button that puts them back. Words of the dictionary come together when they are saved; where both
changed the same word, the second is told what it is now before it can put its own there.
""",
    "May I clone any voice?": """
Only your own, or one whose owner agreed. The tick beside a new voice says that you may.
""",
}


def create() -> None:
    """Put the help on the page."""
    gr.Markdown(STEPS)
    for question, answer in ANSWERS.items():
        with gr.Accordion(question, open=False):
            gr.Markdown(answer)
