; Captures for highlighting. The word lists are compared with the compiler's tables by tests/docs/test_editors.py.
(identifier) @variable

(comment) @comment
[(string) (fstring)] @string
(interpolation ["{" "}"] @punctuation.special) @embedded
(format) @string.special
[(integer) (float)] @number
[(true) (false)] @boolean
(none) @constant.builtin
(unknown_dimension) @constant.builtin

(attribute "@" @attribute name: (identifier) @attribute)
(function_definition name: (identifier) @function)
(layer_definition name: (identifier) @type)
(type_alias name: (identifier) @type)
(const_definition name: (identifier) @constant)
(param_definition name: (identifier) @property)
(state_definition name: (identifier) @property)
(parameter name: (identifier) @variable.parameter)
(named_argument name: (identifier) @variable.parameter)
(import module: (identifier) @module)
(from_import module: (identifier) @module)
(generic . (identifier) @type)
(traits (identifier) @type)
(named_type module: (identifier) @module)
(named_type name: (identifier) @type)
((named_type name: (identifier) @type.builtin)
  (#match? @type.builtin "^(bool|trit|int8|int16|int32|int64|float16|bfloat16|float32|float64|int|float|str|void|Tensor|TernaryTensor|List|Tuple)$"))

(member name: (identifier) @property)
(call function: (identifier) @function.call)
(call function: (member name: (identifier) @function.call))
((call function: (identifier) @function.builtin)
  (#match? @function.builtin "^(abs|absmax_quantize|absmean_quantize|acos|adaptive_avgpool2d|adaptive_threshold_quantize|add|addmm|affine_dequantize|affine_quantize|all|amax|amin|any|arange|argmax|argmin|argsort|asin|atan|atan2|attention|avgpool1d|avgpool2d|baddbmm|batch_norm|binary_cross_entropy|binary_cross_entropy_with_logits|cast|cdist|ceil|celu|chunk|clip|clipped_ste_quantize|concat|conv1d|conv2d|conv3d|conv_transpose1d|conv_transpose2d|cos|cosh|cosine_similarity|cross_entropy|cumprod|cumsum|depthwise_conv2d|dequantize|detach|diagonal|div|dot|dropout|einsum|elu|embedding|enumerate|eq|erf|exp|exp2|expand|expm1|eye|flatten|flip|floor|floordiv|fmod|full|full_like|gather|ge|gelu|global_avgpool|glu|group_norm|gt|gumbel_softmax_quantize|hardshrink|hardsigmoid|hardswish|hardtanh|huber_loss|index|index_select|instance_norm|interpolate|isfinite|isinf|isnan|kl_div|kthvalue|l1_loss|layer_norm|le|leaky_relu|learned_quantize|len|lerp|linear|linspace|log|log10|log1p|log2|log_softmax|logical_and|logical_not|logical_or|logical_xor|logsigmoid|logsumexp|lt|masked_fill|matmul|max|maximum|maxpool1d|maxpool2d|maxpool3d|mean|median|min|minimum|mish|mod|moveaxis|mse_loss|mul|multinomial|narrow|ne|neg|nll_loss|norm|normalize|ntuple|one_hot|ones|ones_like|outer|pack|pad|percentile|permute|pixel_shuffle|pixel_unshuffle|pow|prelu|print|prod|quantile|quantized_conv2d|quantized_linear|quantized_matmul|rand|rand_like|randn|randn_like|random_ternary|range|relu|relu2|relu6|repeat|reshape|reversed|rms_norm|roll|rope|round|rsqrt|scatter|scatter_add|select|select_scatter|selu|shape|sigmoid|sign|silu|sin|sinh|slice|smooth_l1_loss|soft_quantize|softmax|softplus|softshrink|softsign|sort|split|sqrt|squeeze|stack|std|std_mean|ste_quantize|stochastic_quantize|stop_gradient|str|sub|sum|tan|tanh|tanhshrink|tensor|ternary_activation|ternary_dequantize|ternary_linear|ternary_matmul|ternary_quantize|ternary_tensor|ternary_weights|threshold_quantize|topk|trace|transpose|tril|triu|unbind|unpack|unsqueeze|upsample2d|var|var_mean|where|xnor_quantize|zeros|zeros_like|zip)$"))

["layer" "fn" "let" "const" "param" "state" "type" "import" "from" "as" "return" "if" "else" "for" "in" "while" "main" "where" "assert"] @keyword
[(break_statement) (continue_statement)] @keyword

["+" "-" "*" "/" "//" "%" "@" "**" "<" "<=" ">" ">=" "==" "!=" "&&" "||" "!" "=" "+=" "-=" "*=" "/=" "@=" "->" ".." "..=" "..." "?"] @operator
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ";" ":" "."] @punctuation.delimiter
