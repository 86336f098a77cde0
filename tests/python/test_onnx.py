"""trib.from_onnx: the node tests of ONNX, exported models, refusals. TRIB_REPORT=1 prints counts and reasons."""

import collections
import os
import pathlib
import re
import shutil
import sys
import tempfile
import unittest
import unittest.mock
import warnings

import numpy as np
import torch
import trib
from onnx import TensorProto, helper, numpy_helper
from onnx.backend.test.case.node import collect_testcases
from trib import project
from trib.onnx import graph, translate
from trib.onnx.operators import TABLE

warnings.simplefilter("ignore")
DTYPES = {TensorProto.FLOAT, TensorProto.INT8, TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL}
ONE_LIBRARY = 150  # nodes of a library


class OnnxTest(unittest.TestCase):
    def setUp(self):
        self.tmp = pathlib.Path(tempfile.mkdtemp(prefix="trib-onnx-"))
        self.addCleanup(shutil.rmtree, self.tmp, True)
        self.enterContext(
            unittest.mock.patch.dict(os.environ, {"XDG_CACHE_HOME": str(self.tmp / "cache"), "TRIB_SERVER": "off"})
        )

    def imported(self, model, **more):
        folder = trib.from_onnx(model, self.tmp / "net", name="net", **more)
        project.build(folder)
        return trib.load(project.library(folder, "net"))


def node_tests():
    """The tests of single nodes over the element types that are compared."""
    for case in collect_testcases(None):
        if case.model is None or any(o.domain not in ("", "ai.onnx") for o in case.model.opset_import):
            continue
        values = [*case.model.graph.input, *case.model.graph.output]
        if all(v.type.HasField("tensor_type") and v.type.tensor_type.elem_type in DTYPES for v in values):
            yield case


def array(value):
    return numpy_helper.to_array(value) if isinstance(value, TensorProto) else np.asarray(value)


class Case:
    """One node test as a layer. Inputs that must be known get the test's values as constants."""

    def __init__(self, case, number):
        self.name, self.case, self.constants = case.name, case, {}
        names = [value.name for value in case.model.graph.input]
        inputs = dict(zip(names, map(array, case.data_sets[0][0])))
        self.wanted = [array(value) for value in case.data_sets[0][1]]
        model = graph.read_model(case.model)
        while True:
            try:
                self.program = translate.translate(
                    model, TABLE, f"Node{number}", constants=self.constants, prefix=f"node{number}_"
                )
                break
            except trib.OperatorError as error:
                known = [n for n in re.findall(r"constants=\{'([^']*)'", str(error)) if n in inputs]
                if not set(known) - set(self.constants):
                    raise
                self.constants.update({n: inputs[n] for n in known})
        self.inputs = [inputs[n] for n in names if n not in self.constants]

    def check(self, entry):
        made = entry(*self.inputs)
        made = made if isinstance(made, tuple) else (made,)
        for got, want in zip(made, self.wanted):
            assert (got.shape, got.dtype) == (want.shape, want.dtype), (got.shape, got.dtype, want.shape, want.dtype)
            loose = want.dtype == np.float32
            np.testing.assert_allclose(
                got, want, rtol=max(self.case.rtol, 1e-3) if loose else 0, atol=1e-6 if loose else 0
            )


class Nodes(OnnxTest):
    def test_nodes(self):
        """None is wrong, at least 80 % are accepted, the others refused by name."""
        accepted, refused = [], {}
        for case in node_tests():
            try:
                accepted.append(Case(case, len(accepted)))
            except trib.OperatorError as error:
                self.assertRegex(str(error), r"cannot be imported:\n  \w+ in \S+.*: \w+", case.name)
                refused[case.name] = str(error)
        for start in range(0, len(accepted), ONE_LIBRARY):
            self.check_library(accepted[start : start + ONE_LIBRARY])
        total = len(accepted) + len(refused)
        if os.environ.get("TRIB_REPORT"):
            known = sum(bool(case.constants) for case in accepted)
            print(f"{len(accepted)} of {total} nodes, {known} of them with constants", file=sys.stderr)
            reasons = collections.Counter(line.strip() for text in refused.values() for line in text.splitlines()[1:])
            print(*(f"{count} {reason}" for reason, count in reasons.most_common()), sep="\n", file=sys.stderr)
        self.assertGreater(len(accepted) / total, 0.8)

    def check_library(self, cases):
        folder, tensors = self.tmp / "nodes", {}
        for case in cases:
            tensors.update(case.program.tensors)
        text = "".join(case.program.text for case in cases)
        project.write(folder, "nodes", text, " ".join(case.program.entry for case in cases), tensors)
        project.build(folder)
        entries = trib.load(project.library(folder, "nodes")).entries
        for case in cases:
            with self.subTest(node=case.name):
                case.check(entries[case.program.entry])
        shutil.rmtree(folder)


def tiny_bert():
    from transformers import BertConfig, BertModel

    config = BertConfig(
        vocab_size=50, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=32,
    )  # fmt: skip
    return BertModel(config, add_pooling_layer=False).eval()


def tiny_gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(vocab_size=50, n_positions=32, n_embd=16, n_layer=2, n_head=2, use_cache=False)
    return GPT2LMHeadModel(config).eval()


class FirstResult(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids):
        return self.model(input_ids=ids)[0]


class Models(OnnxTest):
    def run_one(self, model, inputs, more, dynamic=None, **how):
        path = self.tmp / "model.onnx"
        with torch.no_grad():
            torch.onnx.export(model, inputs, str(path), verbose=False, dynamic_shapes=dynamic, **how)
            library = self.imported(path)
            for given in (inputs, more):
                want, got = model(*given), library(*given)
                torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5 * max(1.0, float(want.abs().max())))
        return (self.tmp / "net" / "net.tri").read_text()

    def test_resnet(self):
        from torchvision.models.resnet import BasicBlock, ResNet

        model = ResNet(BasicBlock, [2, 2, 2, 2], num_classes=10, width_per_group=64)
        model = narrow(model).eval()
        x = torch.randn(1, 3, 32, 32)
        batch = torch.export.Dim("batch")
        text = self.run_one(model, (x,), (torch.randn(3, 3, 32, 32),), ({0: batch},))
        self.assertIn("x: Tensor<float32, [batch, 3, 32, 32]>", text)

    def test_bert(self):
        ids = torch.randint(0, 50, (2, 7))
        shapes = ({0: torch.export.Dim("batch"), 1: torch.export.Dim("length", min=2, max=32)},)
        self.run_one(FirstResult(tiny_bert()), (ids,), (torch.randint(0, 50, (3, 9)),), shapes)

    def test_gpt2(self):
        ids = torch.randint(0, 50, (2, 7))
        self.run_one(FirstResult(tiny_gpt2()), (ids,), (torch.randint(0, 50, (2, 7)),))

    def test_older_exporter(self):
        model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3, padding=1), torch.nn.ReLU(), torch.nn.Flatten()).eval()
        x = torch.randn(2, 3, 5, 5)
        text = self.run_one(model, (x,), (torch.randn(2, 3, 5, 5),), dynamo=False, opset_version=13)
        self.assertIn("conv2d", text)


def narrow(model):
    """A ResNet with a fourth of the channels."""
    from torch import nn

    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, nn.Conv2d):
                ins = child.in_channels if child.in_channels == 3 else child.in_channels // 4
                made = nn.Conv2d(
                    ins, child.out_channels // 4, child.kernel_size, child.stride, child.padding, bias=False
                )
                setattr(module, name, made)
            elif isinstance(child, nn.BatchNorm2d):
                setattr(module, name, nn.BatchNorm2d(child.num_features // 4))
            elif isinstance(child, nn.Linear):
                setattr(module, name, nn.Linear(child.in_features // 4, child.out_features))
    return model


def small(nodes, inputs, outputs, initializers=(), opset=18):
    """A model of some nodes; inputs and outputs are (name, shape) of floats."""
    infos = [[helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in rows] for rows in (inputs, outputs)]
    made = helper.make_graph(nodes, "small", *infos, initializer=list(initializers))
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", opset)])


class Text(OnnxTest):
    def test_all_refusals_at_once(self):
        nodes = [
            helper.make_node("Det", ["x"], ["a"], name="first"),
            helper.make_node("NonZero", ["x"], ["b"], name="second"),
            helper.make_node("Relu", ["a"], ["y"]),
        ]
        with self.assertRaises(trib.OperatorError) as caught:
            trib.from_onnx(small(nodes, [("x", [2, 2])], [("y", [])]), self.tmp / "net")
        text = str(caught.exception)
        self.assertIn("2 operators cannot be imported:", text)
        self.assertIn("Det in first: no function of the language computes it", text)
        self.assertIn("NonZero in second: the size of its result depends on values", text)

    def test_an_input_that_must_be_known(self):
        nodes = [helper.make_node("Reshape", ["x", "shape"], ["y"])]
        model = small(nodes, [("x", ["n", 4])], [("y", [None, None])])
        model.graph.input.append(helper.make_tensor_value_info("shape", TensorProto.INT64, [2]))
        with self.assertRaisesRegex(trib.OperatorError, r"`shape` must be known: .* constants=\{'shape': …\}"):
            trib.from_onnx(model, self.tmp / "net")
        library = self.imported(model, constants={"shape": np.array([-1, 2])})
        self.assertEqual(library(np.zeros((3, 4), np.float32)).shape, (6, 2))

    def test_sizes_that_the_model_fixes_can_be_opened(self):
        weight = numpy_helper.from_array(np.random.rand(4, 5).astype(np.float32), "fc.weight")
        nodes = [helper.make_node("MatMul", ["x", "fc.weight"], ["h"]), helper.make_node("Relu", ["h"], ["y"])]
        model = small(nodes, [("x", [1, 4])], [("y", [1, 5])], [weight])
        library = self.imported(model, dynamic={"x": {0: "N"}})
        self.assertEqual(library(np.zeros((7, 4), np.float32)).shape, (7, 5))
        text = (self.tmp / "net" / "net.tri").read_text()
        self.assertIn("param fc_weight: Tensor<float32, [4, 5]>", text)
        self.assertIn("return relu(x @ fc_weight)", text)

    def test_shapes_are_computed_when_the_project_is_built(self):
        nodes = [
            helper.make_node("Shape", ["x"], ["s"]),
            helper.make_node("Gather", ["s", "zero"], ["n"]),
            helper.make_node("Unsqueeze", ["n", "axes"], ["m"]),
            helper.make_node("Concat", ["m", "rest"], ["target"], axis=0),
            helper.make_node("Reshape", ["x", "target"], ["y"]),
        ]
        given = {"zero": np.array(0), "axes": np.array([0]), "rest": np.array([2, -1])}
        more = [numpy_helper.from_array(a.astype(np.int64), n) for n, a in given.items()]
        library = self.imported(small(nodes, [("x", ["batch", 6])], [("y", [None, None, None])], more))
        self.assertEqual(library(np.zeros((5, 6), np.float32)).shape, (5, 2, 3))
        self.assertIn("x.reshape([batch, 2, -1])", (self.tmp / "net" / "net.tri").read_text())

    def test_older_opsets_are_converted(self):
        nodes = [helper.make_node("ReduceSum", ["x"], ["y"], axes=[1])]
        library = self.imported(small(nodes, [("x", [2, 3])], [("y", [2, 1])], opset=11))
        np.testing.assert_array_equal(library(np.ones((2, 3), np.float32)), [[3], [3]])


if __name__ == "__main__":
    unittest.main()
