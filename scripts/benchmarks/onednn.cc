// A worker (worker.py describes the protocol) that times oneDNN's matrix products and convolutions with its own memory formats.
// prepare NAME matmul TYPE M K N; prepare NAME conv TYPE N C H W O KH KW STRIDE PADDING. TYPE: int8 (u8 activations, s8 weights, s32 results) or float32.
#include <chrono>
#include <iostream>
#include <map>
#include <sstream>
#include <unordered_map>
#include <vector>
#include "oneapi/dnnl/dnnl.hpp"

using namespace dnnl;
using dims = memory::dims;
using type = memory::data_type;

namespace
{
const engine cpu(engine::kind::cpu, 0);
stream queue(cpu);

struct operation {
	primitive run;
	std::unordered_map<int, memory> arguments;
};

struct types {
	type src, weights, dst;
};

types types_of(const std::string &text)
{
	return text == "int8" ? types{type::u8, type::s8, type::s32} : types{type::f32, type::f32, type::f32};
}

memory filled(const memory::desc &d)
{
	memory m(d, cpu);
	auto *bytes = static_cast<unsigned char *>(m.get_data_handle());
	for (size_t k = 0; k < d.get_size(); k++)
		bytes[k] = 1; // 1 as an integer, and a normal number as a float
	return m;
}

template <class Desc> operation of(const Desc &d)
{
	return {typename Desc::base(d),
		{{DNNL_ARG_SRC, filled(d.src_desc())}, {DNNL_ARG_WEIGHTS, filled(d.weights_desc())}, {DNNL_ARG_DST, filled(d.dst_desc())}}};
}

struct matmul_desc : matmul::primitive_desc {
	using base = matmul;
	using matmul::primitive_desc::primitive_desc;
};
struct conv_desc : convolution_forward::primitive_desc {
	using base = convolution_forward;
	using convolution_forward::primitive_desc::primitive_desc;
};

operation prepare(std::istream &in)
{
	std::string kind, text;
	in >> kind >> text;
	types t = types_of(text);
	const auto any = memory::format_tag::any;
	if (kind == "matmul") {
		memory::dim m, k, n;
		in >> m >> k >> n;
		auto plain = memory::format_tag::ab;
		return of(matmul_desc(matmul::desc({{m, k}, t.src, plain}, {{k, n}, t.weights, any}, {{m, n}, t.dst, plain}), cpu));
	}
	memory::dim n, c, h, w, o, kh, kw, s, p;
	in >> n >> c >> h >> w >> o >> kh >> kw >> s >> p;
	dims out{n, o, (h + 2 * p - kh) / s + 1, (w + 2 * p - kw) / s + 1};
	return of(
		conv_desc(convolution_forward::desc(prop_kind::forward_inference, algorithm::convolution_direct, {{n, c, h, w}, t.src, any},
						    {{o, c, kh, kw}, t.weights, any}, {out, t.dst, any}, {s, s}, {p, p}, {p, p}),
			  cpu));
}

void time_for(operation &o, double budget)
{
	using clock = std::chrono::steady_clock;
	auto began = clock::now();
	double done = 0;
	for (int k = 0; k < 3 || done < budget; k++) {
		auto start = clock::now();
		o.run.execute(queue, o.arguments);
		queue.wait();
		auto end = clock::now();
		done = std::chrono::duration<double>(end - began).count();
		std::cout << std::chrono::duration<double, std::milli>(end - start).count() << ' ';
	}
	std::cout << std::endl;
}
} // namespace

int main()
{
	std::map<std::string, operation> operations;
	for (std::string line; std::getline(std::cin, line);) {
		std::istringstream in(line);
		std::string verb, name;
		double budget;
		in >> verb >> name;
		try {
			if (verb == "prepare") {
				operations[name] = prepare(in);
				std::cout << "ok" << std::endl;
			} else {
				in >> budget;
				time_for(operations.at(name), budget);
			}
		} catch (const std::exception &e) {
			std::cout << "error " << e.what() << std::endl;
		}
	}
}
