// Starts `trib lsp`, which speaks the Language Server Protocol over stdio, for files of the language tri.
const { workspace } = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;

function activate() {
  const command = workspace.getConfiguration('tri').get('command');
  const server = { command, args: ['lsp'] };
  const documentSelector = [
    { scheme: 'file', language: 'tri' },
    { scheme: 'untitled', language: 'tri' },
    { scheme: 'file', pattern: '**/tri.build' },
  ];
  client = new LanguageClient('tri', 'tri', server, { documentSelector });
  return client.start();
}

function deactivate() {
  return client && client.stop();
}

module.exports = { activate, deactivate };
