package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/lease"
)

// The names of leases: of work on a container, which is followed by its number, and of work on all data.
const (
	reclaimLease = "reclaim/"
	indexLease   = "index/"
	namedLease   = "named/"
	splitLease   = "split/"
	purgeLease   = "purge"
	logLease     = "log"
)

func leaseOf(work string, c *catalog.Container) string { return fmt.Sprint(work, c.ID) }

// workGone reports that a lease is of a container that is no more. Numbers of containers are never reused.
func (s *Store) workGone(name string) bool {
	_, id, ok := strings.Cut(name, "/")
	if !ok {
		return false
	}
	n, err := strconv.ParseUint(id, 10, 32)
	if err != nil {
		return false
	}
	_, err = s.catalog.ContainerByID(uint32(n))
	return fault.KindOf(err) == fault.NotFound || fault.KindOf(err) == fault.OwnerNotFound
}

// KeepLeases renews the leases of this process in the background until Close.
func (s *Store) KeepLeases() { s.leases.Start() }

// RenewLeases renews them once, and notices what other processes have done; KeepLeases calls it by itself.
func (s *Store) RenewLeases(ctx context.Context) error { return s.leases.Renew(ctx) }

// LeaseFailure is why the leases could not be renewed, nil if they were.
func (s *Store) LeaseFailure() error { return s.leases.Err() }

// Holds reports whether this process is the one that does a piece of background work, and makes it that if there is
// none. Where one process alone has the data, it always is.
func (s *Store) Holds(ctx context.Context, work string) (bool, error) {
	l, err := s.duty(ctx, work, s.leases.Take)
	return l != nil, err
}

// duty is the lease of a piece of work, nil if another process has it. One that is not held is taken with take.
func (s *Store) duty(
	ctx context.Context, work string, take func(context.Context, string) (*lease.Lease, error),
) (*lease.Lease, error) {
	if l := s.held(work); l != nil {
		return l, nil
	}
	s.taking.Lock()
	defer s.taking.Unlock()
	if l := s.held(work); l != nil {
		return l, nil
	}
	l, err := take(ctx, work)
	if l != nil {
		s.duties.Store(work, l)
	}
	return l, err
}

// held is a lease that this process thinks it has, else nil.
func (s *Store) held(work string) *lease.Lease {
	if l, ok := s.duties.Load(work); ok && !l.(*lease.Lease).Lost() {
		return l.(*lease.Lease)
	}
	return nil
}

// Tends reports whether this process frees the space of a container, and makes it the one if no other does.
func (s *Store) Tends(ctx context.Context, c *catalog.Container) (bool, error) {
	l, err := s.duty(ctx, leaseOf(reclaimLease, c), s.leases.Take)
	return l != nil, err
}

// TendHere makes this process the one that frees the space of a container, even if another one is doing so. It may
// have to wait for one term of a lease, see lease.Keeper.Seize.
func (s *Store) TendHere(ctx context.Context, c *catalog.Container) error {
	return s.leases.Wait(ctx, func() (bool, error) {
		l, err := s.duty(ctx, leaseOf(reclaimLease, c), s.leases.Seize)
		return l != nil, err
	})
}

// Rest leaves the work on all containers to other processes. Where there are none, it does nothing.
func (s *Store) Rest(ctx context.Context) error {
	if !s.catalog.Shared() {
		return nil
	}
	for work, l := range s.duties.Range {
		if strings.HasPrefix(work.(string), reclaimLease) {
			s.duties.CompareAndDelete(work, l)
			if err := l.(*lease.Lease).Release(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// dropLeases forgets the leases of work on a container that was deleted. Where processes share the data, their keys go
// with a later renewal.
func (s *Store) dropLeases(c *catalog.Container) {
	for _, work := range []string{reclaimLease, indexLease, namedLease, splitLease} {
		s.duties.Delete(leaseOf(work, c))
		s.leases.Drop(leaseOf(work, c))
	}
}

// Purge deletes what deletions of containers and indexes have left, where several processes share the data; one of them
// does it. Elsewhere the deletions themselves do that.
func (s *Store) Purge(ctx context.Context) error {
	if !s.catalog.Shared() {
		return nil
	}
	l, err := s.duty(ctx, purgeLease, s.leases.Take)
	if l == nil {
		return err
	}
	if err := s.catalog.Purge(ctx, l.Guard); err != nil && err != lease.ErrLost &&
		fault.KindOf(err) != fault.Conflict { // of the lease: another process goes on
		return err
	}
	return nil
}

// pendingIn is how many documents of a range are reclaimed and not swept, at the moment of a snapshot.
func pendingIn(ctx context.Context, at kv.Reader, rng keys.Range) (pending uint64, err error) {
	_, err = at.Get(ctx, rng.Mark(nil), func(value []byte) error {
		mark, err := keys.DecodeReclaimMark(value)
		if err != nil {
			return corrupt(err, "reclaim mark")
		}
		pending = mark.Pending
		return nil
	})
	return pending, err
}
