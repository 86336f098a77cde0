-- Run by Neovim, without a terminal: opens net.tri of the project with `trib lsp`, asks what a user asks, and prints the answers as JSON.
local trib, out = os.getenv("TRIB"), {}
vim.cmd("edit net.tri")
local client = vim.lsp.start_client({ name = "trib", cmd = { trib, "lsp" }, root_dir = vim.fn.getcwd() })
assert(vim.lsp.buf_attach_client(0, client), "the client does not attach")
local ready = vim.wait(20000, function() return vim.lsp.get_client_by_id(client) and vim.lsp.get_client_by_id(client).initialized end)
assert(ready, "the server does not start")

local function at(needle, shift)
	local row = vim.fn.search("\\V" .. needle, "w")
	assert(row > 0, needle)
	vim.fn.cursor(row, vim.fn.col(".") + (shift or 0))
end
local function ask(method, more)
	local params = vim.tbl_extend("force", vim.lsp.util.make_position_params(), more or {})
	for _, answer in pairs(vim.lsp.buf_request_sync(0, method, params, 20000) or {}) do
		return answer.result
	end
end

assert(vim.wait(20000, function() return #vim.diagnostic.get(0) > 0 end), "no diagnostics")
out.diagnostics = vim.tbl_map(function(d) return { d.lnum + 1, d.code, d.message } end, vim.diagnostic.get(0))
at("let y")
vim.fn.cursor(vim.fn.line("."), vim.fn.col(".") + 4)
out.hover = ask("textDocument/hover").contents.value
at("head(y)")
out.definition = ask("textDocument/definition")
at("nn.Linear(99", 10)
out.signature = ask("textDocument/signatureHelp").signatures[1].label
at("cap T", 4)
vim.lsp.buf.rename("Length")
assert(vim.wait(20000, function() return vim.fn.search("cap Length", "nw") > 0 end), "nothing was renamed")
vim.cmd("silent! wall")
at("nn.Linear(8", 3)
local names = {}
for _, item in ipairs(ask("textDocument/completion").items or ask("textDocument/completion")) do
	table.insert(names, item.label)
end
out.completion = names
vim.cmd("%s/99/8/")
assert(vim.wait(20000, function() return #vim.diagnostic.get(0) == 0 end), "the diagnostics stay")
vim.lsp.buf.formatting_sync(nil, 20000)
out.text = vim.api.nvim_buf_get_lines(0, 0, -1, false)
io.stdout:write(vim.fn.json_encode(out) .. "\n")
vim.lsp.stop_client(client)
vim.wait(5000, function() return vim.lsp.get_client_by_id(client) == nil end)
vim.cmd("qall!")
