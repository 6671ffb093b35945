// The index of undici without the parts that bearerd never uses: fetch, WebSocket, caches, mocks, interceptors. They would
// take a quarter of bearerd's memory. reply-from gets this one in place of its own older undici; it makes an Agent, and
// sends nothing with it, since our handler forwards.
const Dispatcher = require('undici/lib/dispatcher/dispatcher');

// Like the index of undici: adds `request()` and the other methods.
Object.assign(Dispatcher.prototype, require('undici/lib/api'));

exports.Dispatcher = Dispatcher;
exports.Agent = require('undici/lib/dispatcher/agent');
exports.Client = require('undici/lib/dispatcher/client');
exports.Pool = require('undici/lib/dispatcher/pool');
exports.buildConnector = require('undici/lib/core/connect');
exports.errors = require('undici/lib/core/errors');
