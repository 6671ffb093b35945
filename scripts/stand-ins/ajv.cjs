// Ajv for env-schema without the check of our schema against the meta-schema: compiling that took a quarter of the
// start. Our schema is a constant, and test/stand-ins.test.ts checks it.
const Ajv = require('ajv');

module.exports = class extends Ajv {
  constructor(options) {
    super({ ...options, meta: false, validateSchema: false });
  }
};
