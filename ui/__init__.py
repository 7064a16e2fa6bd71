"""The studio page: projects on disk, a worker that speaks, and the Gradio page that shows both."""
