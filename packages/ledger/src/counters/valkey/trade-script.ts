/**
 * One trade, as the server runs it: what limit-pool.ts and pending-trade.ts do, in Lua and by the server's time. A limit is one hash:
 * `s` and `v` are the beginning of its calendar window and what was spent in it, `p<part>` what was spent in a part of a sliding
 * window, `h<holder>` what a holder has told: seq, epoch, spent, lease, and until when it counts as alive. Nothing lasts longer than it
 * counts.
 */

/** KEYS: one limit for each report. ARGV: the trade as JSON. */
export const TRADE_SCRIPT: string = `
local trade = cjson.decode(ARGV[1])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local DAY, PARTS, KEPT, RESERVE_SHARE, HELD_RETRY = 86400000, 60, 61, 8, 1000

local function whole(number) return string.format('%.0f', number) end

-- Days of a month, by the algorithm of https://howardhinnant.github.io/date_algorithms.html (civil_from_days, read 2026-11-30).
local function month()
  local z = math.floor(now / DAY) + 719468
  local era = math.floor(z / 146097)
  local doe = z - era * 146097
  local yoe = math.floor((doe - math.floor(doe / 1460) + math.floor(doe / 36524) - math.floor(doe / 146096)) / 365)
  local doy = doe - (365 * yoe + math.floor(yoe / 4) - math.floor(yoe / 100))
  local mp = math.floor((5 * doy + 2) / 153)
  local first = math.floor((153 * mp + 2) / 5)
  local length = math.floor((153 * (mp + 1) + 2) / 5) - first
  if mp == 11 then
    local year = yoe + era * 400 + 1
    local leap = year % 4 == 0 and (year % 100 ~= 0 or year % 400 == 0)
    length = leap and 29 or 28
  end
  local start = (z - doy + first - 719468) * DAY
  return start, start + length * DAY
end

local function even(length, offset)
  local start = math.floor((now - offset) / length) * length + offset
  return start, start + length
end

local function bounds(window)
  if window.kind == 'sliding' then return even(window.lengthMs, 0) end
  if window.unit == 'minute' then return even(60000, 0) end
  if window.unit == 'hour' then return even(3600000, 0) end
  if window.unit == 'day' then return even(DAY, 0) end
  if window.unit == 'week' then return even(7 * DAY, 4 * DAY) end
  return month()
end

local function spend(pool, amount, at)
  if amount <= 0 then return end
  if pool.partMs then
    local part = math.min(math.floor(at / pool.partMs), pool.newest)
    if part <= pool.newest - KEPT then return end
    pool.parts[part] = (pool.parts[part] or 0) + amount
    pool.changed['p' .. whole(part)] = whole(pool.parts[part])
    pool.spent = pool.spent + amount
  elseif pool.start > 0 and at >= pool.start then
    pool.spent = pool.spent + amount
    pool.changed.v = whole(pool.spent)
  end
end

local function read(key, report)
  local window = report.limit.window
  if window == cjson.null then window = nil end
  local pool = { key = key, amount = report.amount, spent = 0, leases = 0, start = 0, ends = 0, parts = {}, changed = {}, gone = {} }
  if window then pool.start, pool.ends = bounds(window) end
  if window and window.kind == 'sliding' then
    pool.partMs = window.lengthMs / PARTS
    pool.newest = math.floor(now / pool.partMs)
    pool.keepMs = window.lengthMs * 2
  else
    pool.keepMs = math.max(pool.ends - now, 0)
  end
  local flat = redis.call('HGETALL', key)
  local fields = {}
  for index = 1, #flat, 2 do fields[flat[index]] = flat[index + 1] end
  if pool.start > 0 and not pool.partMs then
    if tonumber(fields.s) == pool.start then pool.spent = tonumber(fields.v)
    else pool.changed.s = whole(pool.start); pool.changed.v = '0' end
  end
  local lost = {}
  for name, value in pairs(fields) do
    local kind = string.sub(name, 1, 1)
    if kind == 'p' then
      local part = tonumber(string.sub(name, 2))
      if pool.partMs and part > pool.newest - KEPT then
        pool.parts[part] = tonumber(value)
        pool.spent = pool.spent + pool.parts[part]
      else
        pool.gone[#pool.gone + 1] = name
      end
    elseif kind == 'h' then
      local seq, epoch, spent, lease, untilMs = string.match(value, '(%d+)|(%d+)|(%d+)|(%d+)|(%d+)')
      local record = { seq = tonumber(seq), epoch = tonumber(epoch), spent = tonumber(spent), lease = tonumber(lease), untilMs = tonumber(untilMs) }
      if record.untilMs < now then
        lost[#lost + 1] = record
        pool.gone[#pool.gone + 1] = name
      else
        pool.leases = pool.leases + record.lease
        if name == 'h' .. trade.holder then pool.own = record end
      end
    end
  end
  -- A lost holder's lease counts as spent when it was last known to live.
  for _, record in ipairs(lost) do spend(pool, record.lease, record.untilMs) end
  return pool
end

local function lease(pool, amount)
  pool.leases = pool.leases + amount - pool.own.lease
  pool.own.lease = amount
end

local function tell(pool, report)
  local own = pool.own
  if not own then
    own = { seq = 0, epoch = report.epoch, spent = report.heard, lease = 0 }
    pool.own = own
  end
  if trade.seq <= own.seq or report.epoch < own.epoch then
    pool.isStale = true
    return
  end
  own.seq = trade.seq
  own.untilMs = now + trade.leaseMs
  if report.epoch > own.epoch then
    own.epoch = report.epoch
    own.spent = report.heard
  end
  local untold = math.max(report.spent - own.spent, 0)
  own.spent = own.spent + untold
  lease(pool, report.lease)
  local recent = math.min(untold, report.recent)
  spend(pool, recent, now - math.max(trade.sentMs - report.recentAtMs, 0))
  spend(pool, untold - recent, now - math.max(trade.sentMs - report.earlierAtMs, 0))
end

local function room(pool) return pool.amount - pool.spent - pool.leases end

local function wait(pool, amount)
  if room(pool) >= amount then return 0 end
  local excess = pool.spent + amount - pool.amount
  if excess <= 0 or amount > pool.amount or pool.ends == 0 then return HELD_RETRY end
  if not pool.partMs then return math.max(pool.ends - now, 1) end
  local freed, part = 0, pool.newest - PARTS
  while part < pool.newest do
    freed = freed + (pool.parts[part] or 0)
    if freed >= excess then break end
    part = part + 1
  end
  return math.max(math.ceil((part + KEPT) * pool.partMs - now), 1)
end

local pools = {}
for index, report in ipairs(trade.reports) do
  pools[index] = read(KEYS[index], report)
  tell(pools[index], report)
end

local refused = {}
for index, ask in ipairs(trade.asks) do
  local fits = true
  for _, need in ipairs(ask) do
    local pool = pools[need[1] + 1]
    if pool.isStale or room(pool) < need[2] then fits = false end
  end
  refused[index] = not fits
  for _, need in ipairs(ask) do
    local pool = pools[need[1] + 1]
    if fits then lease(pool, pool.own.lease + need[2]) else pool.isRefusing = true end
  end
end

local answers = {}
for index, ask in ipairs(trade.asks) do
  answers[index] = {}
  for at, need in ipairs(ask) do
    if refused[index] then answers[index][at] = wait(pools[need[1] + 1], need[2]) end
  end
end

local grants = {}
for index, report in ipairs(trade.reports) do
  local pool = pools[index]
  local spare = math.min(report.spare, math.floor(room(pool) / RESERVE_SHARE))
  if pool.isStale or pool.isRefusing or spare <= 0 or spare < report.spare / RESERVE_SHARE then spare = 0 end
  if spare > 0 then lease(pool, pool.own.lease + spare) end
  if not pool.isStale then
    local own = pool.own
    pool.changed['h' .. trade.holder] = table.concat({ whole(own.seq), whole(own.epoch), whole(own.spent), whole(own.lease), whole(own.untilMs) }, '|')
  end
  local flat = {}
  for name, value in pairs(pool.changed) do flat[#flat + 1] = name; flat[#flat + 1] = value end
  if #pool.gone > 0 then redis.call('HDEL', pool.key, unpack(pool.gone)) end
  if #flat > 0 then redis.call('HSET', pool.key, unpack(flat)) end
  redis.call('PEXPIRE', pool.key, whole(pool.keepMs + 2 * trade.leaseMs))
  grants[index] = { spare, pool.spent, pool.leases, pool.start, pool.ends }
end
return { now, grants, answers }
`;
