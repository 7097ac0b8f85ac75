package expression

import (
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // so that names of zones work on every machine

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// A zone is a time zone: an Olson name such as "Europe/London", or a fixed offset.
type zone struct {
	location *time.Location
	isUTC    bool // "UTC" or an offset of zero
}

var utc = &zone{location: time.UTC, isUTC: true}

// Limits on the cached zones, and on the name of a zone.
const (
	maxZones    = 1024
	maxZoneName = 64
)

// zones is a cache of zones by name.
var zones = struct {
	sync.RWMutex
	known map[string]*zone
}{known: map[string]*zone{"UTC": utc}}

// zoneOf finds a zone by its name. It fails with 40485 if there is none.
func zoneOf(name string) (*zone, error) {
	zones.RLock()
	z := zones.known[name]
	zones.RUnlock()
	if z != nil {
		return z, nil
	}
	if z = loadZone(name); z == nil {
		return nil, code.New(40485, "unrecognized time zone identifier: \"%s\"", name[:min(len(name), maxShown)])
	}
	zones.Lock()
	defer zones.Unlock()
	if len(zones.known) < maxZones {
		zones.known[strings.Clone(name)] = z
	}
	return z, nil
}

func loadZone(name string) *zone {
	if name == "" || name == "Local" || len(name) > maxZoneName {
		return nil
	}
	if name[0] == '+' || name[0] == '-' {
		seconds, ok := readOffset(name)
		if !ok {
			return nil
		}
		return &zone{location: time.FixedZone("", seconds), isUTC: seconds == 0}
	}
	location, err := time.LoadLocation(strings.Clone(name))
	if err != nil {
		return nil
	}
	return &zone{location: location}
}

// readOffset parses ±HH, ±HHMM or ±HH:MM to seconds.
func readOffset(text string) (seconds int, ok bool) {
	digits := text[1:]
	if len(digits) == 5 && digits[2] == ':' {
		digits = digits[:2] + digits[3:]
	}
	if len(digits) != 2 && len(digits) != 4 {
		return 0, false
	}
	n := 0
	for _, c := range []byte(digits) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	if len(digits) == 2 {
		n *= 100
	}
	seconds = n/100*3600 + n%100*60
	if text[0] == '-' {
		seconds = -seconds
	}
	return seconds, true
}

// A zoneArgument is an optional argument that names a zone, by default UTC. A constant one is looked up when the
// expression is compiled.
type zoneArgument struct {
	known *zone
	err   error
}

func zoneArgumentOf(x *Expression) zoneArgument {
	if x == nil {
		return zoneArgument{known: utc}
	}
	if v, ok := x.Constant(); ok {
		z, err := zoneArgument{}.of(v)
		return zoneArgument{z, err}
	}
	return zoneArgument{}
}

// of is the zone that the argument's value names, nil if the value is nullish.
func (a zoneArgument) of(v doc.Value) (*zone, error) {
	if a.known != nil || a.err != nil {
		return a.known, a.err
	}
	if nullish(v) {
		return nil, nil
	}
	name, ok := doc.AsString(v)
	if !ok {
		return nil, code.New(40517, "timezone must evaluate to a string, found %s", code.TypeName(v))
	}
	return zoneOf(name)
}

// at is an instant, in milliseconds of Unix time, as a local time of the zone.
func (z *zone) at(ms int64) time.Time { return time.UnixMilli(ms).In(z.location) }

// instant is the instant of a local time, given in seconds as if it were UTC. For a local time that occurs twice it is
// one of both. A local time that is skipped is read with the offset before the change, as in timelib.
func (z *zone) instant(shown int64) int64 {
	_, before := time.Unix(shown, 0).In(z.location).Zone()
	after := time.Unix(shown-int64(before), 0).In(z.location)
	_, offset := after.Zone()
	if offset == before {
		return shown - int64(before)
	}
	change, _ := after.ZoneBounds()
	if !change.IsZero() {
		at, set := shown-int64(offset), change.Unix()
		if at >= set+int64(before-offset) && at < set {
			return shown - int64(before)
		}
	}
	return shown - int64(offset)
}
