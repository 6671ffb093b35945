/**
 * Functions for all scripts. KEYS are token, hold, lock, retired, floor. A value of another type, or one larger than
 * bearerd ever writes, counts as missing: `SET` overwrites it.
 */
const SHARED = `
local function get(key)
  local value = redis.pcall('GET', key)
  return type(value) == 'string' and #value <= 131072 and value or ''
end
local function generation(text) return tonumber(string.match(text, '^(%d+)%.') or '-1') end
local function deleteUnlessOurs(key, longest)
  local ttl = redis.call('PTTL', key)
  if ttl == -1 or ttl > longest then redis.call('DEL', key) end
end
local function free(owner, after)
  if owner == '' or get(KEYS[3]) ~= owner then return end
  if after > 0 then redis.call('PEXPIRE', KEYS[3], after) else redis.call('DEL', KEYS[3]) end
end
`;

export const LOOK = `${SHARED}
local token, hold = get(KEYS[1]), get(KEYS[2])
return { token, redis.call('PTTL', KEYS[1]), redis.sha1hex(token),
  hold, redis.call('PTTL', KEYS[2]), redis.sha1hex(hold), get(KEYS[4]) }
`;

/** ARGV: owner, lease, versions of token and hold. A lock that never ends, or ends later than the lease, is deleted. */
export const LOCK = `${SHARED}
if redis.sha1hex(get(KEYS[1])) ~= ARGV[3] or redis.sha1hex(get(KEYS[2])) ~= ARGV[4] then return 'changed' end
deleteUnlessOurs(KEYS[3], tonumber(ARGV[2]))
return redis.call('SET', KEYS[3], ARGV[1], 'NX', 'PX', ARGV[2]) and 'mine' or 'another'
`;

/** ARGV: owner, lease. */
export const EXTEND = `${SHARED}
if get(KEYS[3]) == ARGV[1] then redis.call('PEXPIRE', KEYS[3], ARGV[2]) end
return 'done'
`;

/** ARGV: channel, owner, time of the lock, generation, sealed token, lifetime, mark, unreadable version, `new` or nothing. */
export const PUBLISH = `${SHARED}
local there = get(KEYS[1])
local result = 'done'
if get(KEYS[4]) == ARGV[7] then
  result = 'retired'
elseif redis.sha1hex(there) ~= ARGV[8] and generation(there) >= tonumber(ARGV[4]) then
  result = 'older'
else
  redis.call('SET', KEYS[1], ARGV[5], 'PX', ARGV[6])
  if ARGV[9] == 'new' then redis.call('DEL', KEYS[2]) end
end
free(ARGV[2], tonumber(ARGV[3]))
if result == 'done' then redis.call('PUBLISH', ARGV[1], 'token') end
return result
`;

/** ARGV: channel, owner, time of the lock, sealed hold or nothing, its lifetime. */
export const UNLOCK = `${SHARED}
free(ARGV[2], tonumber(ARGV[3]))
if ARGV[4] ~= '' then
  redis.call('SET', KEYS[2], ARGV[4], 'PX', ARGV[5])
  redis.call('PUBLISH', ARGV[1], 'hold')
end
return 'done'
`;

/** ARGV: channel, generation, mark, its lifetime, how long no other token is retired. */
export const RETIRE = `${SHARED}
if get(KEYS[4]) == ARGV[3] then return 'done' end
deleteUnlessOurs(KEYS[5], tonumber(ARGV[5]))
if not redis.call('SET', KEYS[5], '1', 'NX', 'PX', ARGV[5]) then return 'protected' end
redis.call('SET', KEYS[4], ARGV[3], 'PX', ARGV[4])
if generation(get(KEYS[1])) == tonumber(ARGV[2]) then redis.call('DEL', KEYS[1]) end
redis.call('PUBLISH', ARGV[1], 'retired')
return 'done'
`;

/** Fails if the user may not do this, or there is no memory for it. */
export const PROBE = `
redis.call('SET', KEYS[1], '1', 'PX', 1000)
redis.call('PUBLISH', KEYS[1], '1')
return 'done'
`;
