package store

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/pingcap/kvproto/pkg/errorpb"
	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/pingcap/kvproto/pkg/metapb"
	"github.com/pingcap/kvproto/pkg/pdpb"
	"github.com/tikv/client-go/v2/util/codec"
)

// regions are the parts of the key space that the store serves: all of them.
type regions struct {
	mu   sync.RWMutex
	byID map[uint64]*metapb.Region
}

// check answers nil if the client knows the region as it is.
func (r *regions) check(c *kvrpcpb.Context) (*metapb.Region, *errorpb.Error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	region := r.byID[c.GetRegionId()]
	if region == nil {
		return nil, &errorpb.Error{
			Message:        fmt.Sprintf("region %d not found", c.GetRegionId()),
			RegionNotFound: &errorpb.RegionNotFound{RegionId: c.GetRegionId()},
		}
	}
	if c.Peer.GetStoreId() != region.Peers[0].StoreId {
		return nil, &errorpb.Error{Message: "store not match", StoreNotMatch: &errorpb.StoreNotMatch{
			RequestStoreId: c.Peer.GetStoreId(), ActualStoreId: region.Peers[0].StoreId,
		}}
	}
	epoch := c.GetRegionEpoch()
	if epoch.GetVersion() != region.RegionEpoch.Version || epoch.GetConfVer() != region.RegionEpoch.ConfVer {
		return nil, &errorpb.Error{
			Message:       fmt.Sprintf("epoch of region %d does not match", region.Id),
			EpochNotMatch: &errorpb.EpochNotMatch{CurrentRegions: []*metapb.Region{region}},
		}
	}
	return region, nil
}

func (r *regions) all() []*metapb.Region {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var all []*metapb.Region
	for _, region := range r.byID {
		all = append(all, region)
	}
	return all
}

// bounds are the region's keys on disk in a space, nil where it has no end.
func bounds(region *metapb.Region, first byte) (lower, upper []byte) {
	lower = append([]byte{first}, region.StartKey...)
	if len(region.EndKey) > 0 {
		upper = append([]byte{first}, region.EndKey...)
	}
	return lower, upper
}

// split cuts a region at keys, which are the client's. The placement driver
// gives the new regions their identifiers and is told of them.
func (s *server) split(ctx context.Context, region *metapb.Region, keys [][]byte) ([]*metapb.Region, error) {
	s.splitting.Lock()
	defer s.splitting.Unlock()
	var cuts [][]byte
	for _, k := range keys {
		cut := codec.EncodeBytes(nil, k)
		inside := bytes.Compare(cut, region.StartKey) > 0 &&
			(len(region.EndKey) == 0 || bytes.Compare(cut, region.EndKey) < 0)
		if inside {
			cuts = append(cuts, cut)
		}
	}
	slices.SortFunc(cuts, bytes.Compare)
	cuts = slices.CompactFunc(cuts, bytes.Equal)
	if len(cuts) == 0 {
		return []*metapb.Region{region}, nil
	}
	version := region.RegionEpoch.Version + uint64(len(cuts))
	start := region.StartKey
	var parts []*metapb.Region
	for i := 0; i <= len(cuts); i++ {
		part := &metapb.Region{
			Id: region.Id, StartKey: start, Peers: region.Peers, EndKey: region.EndKey,
			RegionEpoch: &metapb.RegionEpoch{ConfVer: region.RegionEpoch.ConfVer, Version: version},
		}
		if i < len(cuts) { // the last part keeps the old identifier, as in TiKV with right-derive-when-split
			ids, err := s.placement.ids(ctx, 2)
			if err != nil {
				return nil, err
			}
			part.Id, part.EndKey = ids[0], cuts[i]
			part.Peers = []*metapb.Peer{{Id: ids[1], StoreId: region.Peers[0].StoreId}}
			start = cuts[i]
		}
		parts = append(parts, part)
	}
	s.regions.mu.Lock()
	if now := s.regions.byID[region.Id]; now.RegionEpoch.Version != region.RegionEpoch.Version {
		s.regions.mu.Unlock()
		return nil, fmt.Errorf("region %d was split already", region.Id)
	}
	err := s.disk.write(func(b *pebble.Batch, _ uint64) error { return putRegions(b, parts) })
	if err == nil {
		for _, part := range parts {
			s.regions.byID[part.Id] = part
		}
	}
	s.regions.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return parts, s.placement.report(ctx, parts)
}

func putRegions(b *pebble.Batch, all []*metapb.Region) error {
	for _, r := range all {
		data, err := r.Marshal()
		if err != nil {
			return err
		}
		if err := b.Set(metaKey(fmt.Sprintf("region/%020d", r.Id)), data, nil); err != nil {
			return err
		}
	}
	return nil
}

// loadRegions reads the regions and the store's identifier, 0 for a store that
// has never run.
func loadRegions(d *disk) (all map[uint64]*metapb.Region, storeID uint64, err error) {
	it, err := space(d.db, metaSpace, metaKey("region/"), metaKey("region0"))
	if err != nil {
		return nil, 0, err
	}
	defer it.Close()
	all = map[uint64]*metapb.Region{}
	for ok := it.First(); ok; ok = it.Next() {
		r := new(metapb.Region)
		if err := r.Unmarshal(it.Value()); err != nil {
			return nil, 0, err
		}
		all[r.Id], storeID = r, r.Peers[0].StoreId
	}
	return all, storeID, it.Error()
}

// placement is the store's client of the placement driver.
type placement struct {
	pd      pdpb.PDClient
	cluster uint64
}

func (p *placement) header() *pdpb.RequestHeader { return &pdpb.RequestHeader{ClusterId: p.cluster} }

func (p *placement) ids(ctx context.Context, n int) ([]uint64, error) {
	var ids []uint64
	for range n {
		resp, err := p.pd.AllocID(ctx, &pdpb.AllocIDRequest{Header: p.header()})
		if err != nil {
			return nil, err
		}
		ids = append(ids, resp.Id)
	}
	return ids, nil
}

func (p *placement) report(ctx context.Context, all []*metapb.Region) error {
	_, err := p.pd.ReportBatchSplit(ctx, &pdpb.ReportBatchSplitRequest{Header: p.header(), Regions: all})
	return err
}

// now returns a timestamp.
func (p *placement) now(ctx context.Context) (uint64, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := p.pd.Tso(ctx)
	if err != nil {
		return 0, err
	}
	if err := stream.Send(&pdpb.TsoRequest{Header: p.header(), Count: 1}); err != nil {
		return 0, err
	}
	resp, err := stream.Recv()
	if err != nil {
		return 0, err
	}
	return uint64(resp.Timestamp.Physical)<<18 + uint64(resp.Timestamp.Logical), nil
}
