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
  (#match? @type.builtin "^(bool|trit|uint8|int8|int16|int32|int64|float16|bfloat16|float32|float64|int|float|str|void|Tensor|TernaryTensor|List|Tuple)$"))

(member name: (identifier) @property)
(call function: (identifier) @function.call)
(call function: (member name: (identifier) @function.call))
((call function: (identifier) @function.builtin)
  (#match? @function.builtin "^(abs|absmax_quantize|absmean_quantize|acos|acosh|adaptive_avgpool1d|adaptive_avgpool2d|adaptive_threshold_quantize|add|addcdiv|addcmul|addmm|addmv|affine_dequantize|affine_quantize|all|amax|amin|aminmax|any|arange|argmax|argmin|argsort|asin|asinh|atan|atan2|atanh|attention|avgpool1d|avgpool2d|baddbmm|batch_norm|binary_cross_entropy|binary_cross_entropy_with_logits|bitwise_and|bitwise_left_shift|bitwise_not|bitwise_or|bitwise_right_shift|bitwise_xor|bucketize|cast|cdist|ceil|celu|channel_shuffle|chunk|clip|clipped_ste_quantize|concat|conv1d|conv2d|conv3d|conv_transpose1d|conv_transpose2d|cos|cosh|cosine_embedding_loss|cosine_similarity|count_nonzero|cross|cross_entropy|cumprod|cumsum|deg2rad|depthwise_conv2d|dequantize|detach|diag|diag_embed|diagonal|diff|dist|div|dot|dropout|einsum|elu|embedding|enumerate|eq|erf|exp|exp2|expand|expand_as|expm1|eye|flatten|flip|fliplr|flipud|floor|floordiv|fmax|fmin|fmod|frac|full|full_like|gather|gaussian_nll_loss|ge|gelu|global_avgpool|glu|group_norm|gt|gumbel_softmax_quantize|hardshrink|hardsigmoid|hardswish|hardtanh|hinge_embedding_loss|hstack|huber_loss|hypot|index|index_add|index_copy|index_fill|index_select|instance_norm|interpolate|isclose|isfinite|isinf|isnan|kl_div|kthvalue|l1_loss|layer_norm|le|leaky_relu|learned_quantize|len|lerp|linear|linspace|local_response_norm|log|log10|log1p|log2|log_softmax|logaddexp|logical_and|logical_not|logical_or|logical_xor|logit|logsigmoid|logsumexp|lt|margin_ranking_loss|masked_fill|matmul|max|maximum|maxpool1d|maxpool2d|maxpool3d|mean|median|meshgrid|min|minimum|mish|mod|moveaxis|mse_loss|mul|multilabel_soft_margin_loss|multinomial|nan_to_num|nanmean|nansum|narrow|ne|neg|new_ones|new_zeros|nll_loss|norm|normalize|ntuple|one_hot|ones|ones_like|outer|pack|pad|pairwise_distance|percentile|permute|pixel_shuffle|pixel_unshuffle|poisson_nll_loss|pow|prelu|print|prod|quantile|quantized_conv2d|quantized_linear|quantized_matmul|rad2deg|rand|rand_like|randn|randn_like|random_ternary|range|ravel|reciprocal|relu|relu2|relu6|repeat|repeat_interleave|reshape|reshape_as|reversed|rms_norm|roll|rope|round|rsqrt|scatter|scatter_add|searchsorted|select|select_scatter|selu|shape|sigmoid|sign|silu|sin|sinh|slice|slice_scatter|smooth_l1_loss|soft_margin_loss|soft_quantize|softmax|softmin|softplus|softshrink|softsign|sort|split|sqrt|square|squeeze|stack|std|std_mean|ste_quantize|stochastic_quantize|stop_gradient|str|sub|sum|take_along_dim|tan|tanh|tanhshrink|tensor|ternary_activation|ternary_dequantize|ternary_linear|ternary_matmul|ternary_quantize|ternary_tensor|ternary_weights|threshold_quantize|topk|trace|transpose|tril|triplet_margin_loss|triu|trunc|unbind|unflatten|unpack|unsqueeze|upsample2d|var|var_mean|view_as|vstack|where|xlogy|xnor_quantize|zeros|zeros_like|zip)$"))

["layer" "fn" "let" "const" "param" "state" "type" "import" "from" "as" "return" "if" "else" "for" "in" "while" "main" "where" "assert"] @keyword
[(break_statement) (continue_statement)] @keyword

["+" "-" "*" "/" "//" "%" "@" "**" "<" "<=" ">" ">=" "==" "!=" "&&" "||" "!" "&" "|" "^" "~" "<<" ">>" "=" "+=" "-=" "*=" "/=" "@=" "&=" "|=" "^=" "<<=" ">>=" "->" ".." "..=" "..." "?"] @operator
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ";" ":" "."] @punctuation.delimiter
