"""Models of PyTorch 2.5 or later as projects of the language, and the backend "trib" of `torch.compile`."""
