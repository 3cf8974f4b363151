"""Opens and writes thimble's checkpoints with google.protobuf and NumPy.

    import thimble
    checkpoint = thimble.load("runs/checkpoint-000007.thimble")
    checkpoint.header.progress.step           # the header is the message of checkpoint.proto
    checkpoint.weights["wte.weight"]          # a NumPy array
    model.load_state_dict(checkpoint.state_dict())  # torch tensors under Hugging Face's names, where it is a GPT-2
    thimble.save("copy.thimble", checkpoint)
"""

from .checkpoint import Checkpoint, CheckpointError, load, save

__all__ = ["Checkpoint", "CheckpointError", "load", "save"]
