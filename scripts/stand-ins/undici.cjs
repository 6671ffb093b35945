// undici's own index, without what a proxy never uses: fetch, WebSocket, caches, mocks, interceptors. They would be
// a quarter of bearerd's memory. reply-from gets these instead of an older undici of its own; it makes an Agent,
// and sends nothing by it, since our handler forwards.
const Dispatcher = require('undici/lib/dispatcher/dispatcher');

// As the index does: `dispatcher.request()` and its like.
Object.assign(Dispatcher.prototype, require('undici/lib/api'));

exports.Dispatcher = Dispatcher;
exports.Agent = require('undici/lib/dispatcher/agent');
exports.Client = require('undici/lib/dispatcher/client');
exports.Pool = require('undici/lib/dispatcher/pool');
exports.buildConnector = require('undici/lib/core/connect');
exports.errors = require('undici/lib/core/errors');
