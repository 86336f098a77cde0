"""export.py NETWORK BASE BATCH [int8]: writes a network of torchvision with random weights to BASE.safetensors, BASE.pt and BASE.onnx, an input and its
output. With int8 the ONNX file is quantized, weights for each channel, activations by the input that was written."""
import sys

import numpy as np
import torch
import torchvision
from safetensors.torch import save_file

name, base, batch = sys.argv[1], sys.argv[2], int(sys.argv[3])
torch.manual_seed(1)
net = getattr(torchvision.models, name)().eval()
x = torch.randn(batch, 3, 224, 224)
with torch.no_grad():
    for module in net.modules():  # statistics as of a trained network, so that the batch norms do something
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.5, 1.5)
        if isinstance(module, torch.nn.Linear) and not module.weight.any():  # torchvision's ViT begins with a head of zeros
            module.weight.normal_(0, 0.02)
    y = net(x)
np.save(base + ".input.npy", x.numpy())
np.save(base + ".output.npy", y.numpy())
torch.save(net.state_dict(), base + ".pt")
save_file({k: v.contiguous() for k, v in net.state_dict().items() if v.is_floating_point()}, base + ".safetensors")
torch.onnx.export(net, (x,), base + ".onnx", dynamo=False, input_names=["x"], output_names=["y"])

if "int8" in sys.argv[4:]:
    from onnxruntime import quantization as q
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class OneInput(q.CalibrationDataReader):
        def __init__(self):
            self.left = [{"x": x.numpy()}]

        def get_next(self):
            return self.left.pop() if self.left else None

    quant_pre_process(base + ".onnx", base + ".shapes.onnx", skip_symbolic_shape=True)
    q.quantize_static(base + ".shapes.onnx", base + ".onnx", OneInput(), quant_format=q.QuantFormat.QDQ, per_channel=True,
                      activation_type=q.QuantType.QUInt8, weight_type=q.QuantType.QInt8)
