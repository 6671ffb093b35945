// env-schema's Ajv, without the check of our schema against the schema of schemas: to compile that one took a
// quarter of the start. Ours is a constant, and the tests, which run src/, have it checked.
const Ajv = require('ajv');

module.exports = class extends Ajv {
  constructor(options) {
    super({ ...options, meta: false, validateSchema: false });
  }
};
