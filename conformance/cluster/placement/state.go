package placement

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"sort"
	"sync"
	"time"

	"github.com/pingcap/kvproto/pkg/metapb"
)

// A state is everything that a placement driver knows beside time. Each change
// is in its file before anybody is told of it.
type state struct {
	file string

	mu    sync.Mutex
	known known
}

// known is the content of a state's file.
type known struct {
	LastID     uint64
	Stores     map[uint64]*metapb.Store
	Regions    map[uint64]*metapb.Region
	SafePoint  uint64                // old versions below it may be gone
	SafePoints map[string]*safePoint // by service
	Etcd       map[string]string
}

// A safePoint is a service's wish that nothing at or above At is collected.
type safePoint struct {
	At      uint64
	Expires time.Time
}

func openState(file string) (*state, error) {
	s := &state{file: file, known: known{
		Stores:     map[uint64]*metapb.Store{},
		Regions:    map[uint64]*metapb.Region{},
		SafePoints: map[string]*safePoint{},
		Etcd:       map[string]string{},
	}}
	content, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	return s, json.Unmarshal(content, &s.known)
}

// change runs f and saves what it did.
func (s *state) change(f func(*known)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.known)
	content, err := json.Marshal(&s.known)
	if err != nil {
		return err
	}
	return replace(s.file, content)
}

func (s *state) look(f func(*known)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.known)
}

// report replaces what is known of the regions, unless newer ones are known,
// and forgets those that they have replaced.
func (k *known) report(regions []*metapb.Region) {
	for _, r := range regions {
		if old := k.Regions[r.Id]; old == nil || old.RegionEpoch.GetVersion() <= r.RegionEpoch.GetVersion() {
			k.Regions[r.Id] = r
		}
	}
}

// regions returns them in order of their start.
func (k *known) regions() []*metapb.Region {
	all := make([]*metapb.Region, 0, len(k.Regions))
	for _, r := range k.Regions {
		all = append(all, r)
	}
	sort.Slice(all, func(i, j int) bool { return bytes.Compare(all[i].StartKey, all[j].StartKey) < 0 })
	return all
}

// at returns the region that has key; before, the one that ends at or before
// key's own region starts. They return nil when there is none.
func (k *known) at(key []byte) *metapb.Region {
	for _, r := range k.regions() {
		if bytes.Compare(r.StartKey, key) <= 0 && (len(r.EndKey) == 0 || bytes.Compare(key, r.EndKey) < 0) {
			return r
		}
	}
	return nil
}

func (k *known) before(key []byte) *metapb.Region {
	own := k.at(key)
	if own == nil {
		return nil
	}
	for _, r := range k.regions() {
		if len(r.EndKey) > 0 && bytes.Equal(r.EndKey, own.StartKey) {
			return r
		}
	}
	return nil
}

// serviceSafePoint notes a service's wish, unless it comes too late, and
// returns the lowest of all wishes; tikv/pd: server/grpc_service.go,
// UpdateServiceGCSafePoint.
func (k *known) serviceSafePoint(service string, at uint64, ttl time.Duration, now time.Time) (string, *safePoint) {
	for name, p := range k.SafePoints {
		if !p.Expires.After(now) {
			delete(k.SafePoints, name)
		}
	}
	if ttl <= 0 {
		delete(k.SafePoints, service)
		return k.lowest()
	}
	if _, low := k.lowest(); low == nil || low.At <= at {
		k.SafePoints[service] = &safePoint{At: at, Expires: now.Add(ttl)}
	}
	return k.lowest()
}

func (k *known) lowest() (name string, low *safePoint) {
	least := uint64(math.MaxUint64)
	for n, p := range k.SafePoints {
		if low == nil || p.At < least || p.At == least && n < name {
			name, low, least = n, p, p.At
		}
	}
	return name, low
}
