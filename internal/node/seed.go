package node

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/mayflydb/mayfly/internal/admin"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/command"
	"github.com/mayflydb/mayfly/internal/transfer"
)

// seedSuffix marks a container that is being filled. It gets its name when it is complete, so that a start that was cut
// off leaves no part of it, and the next one begins again.
const seedSuffix = "~mayfly-seeding"

// seed makes and fills the containers of a folder that do not exist yet. It runs before the APIs answer.
func (n *Node) seed(ctx context.Context, o Options) (err error) {
	if o.Seed == "" {
		return nil
	}
	list, err := transfer.Seeds(o.Seed)
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "the seeds cannot be read: %s", err)
	}
	if err := n.openLocal(o); err != nil {
		return err
	}
	mongo := command.New(n.mongoOptions(o, "", o.Version))
	api := admin.New(admin.Options{
		Clock: n.clock, Reaper: adminReaper{n}, Logger: n.log, Catalog: n.presentCatalog, Usage: n.usage,
		NoSQL:       n.local,
		Mongo:       func(ctx context.Context, d []byte) ([]byte, error) { return mongo.Local(ctx, d) },
		Attachments: admin.Attachments{Transfer: adminTransfer{n}},
	})
	defer func() {
		api.Close(ctx)
		if wrong := mongo.Close(ctx); err == nil {
			err = wrong
		}
	}()
	now := n.clock.Now().Unix()
	for i := range list {
		if err := n.seedOne(ctx, inProcess(api), &list[i], now); err != nil {
			return err
		}
	}
	return nil
}

// inProcess sends requests to a handler without a network.
func inProcess(h http.Handler) transfer.Sender {
	return func(ctx context.Context, method, path, contentType string, body io.Reader) (*http.Response, error) {
		r, err := http.NewRequestWithContext(ctx, method, "http://localhost"+path, body)
		if err != nil {
			return nil, err
		}
		r.Header.Set("Content-Type", contentType)
		w := &kept{header: http.Header{}, status: http.StatusOK}
		h.ServeHTTP(w, r)
		if w.status < 300 {
			return &http.Response{StatusCode: w.status, Header: w.header, Body: io.NopCloser(&w.body), Request: r}, nil
		}
		var problem struct{ Detail string }
		if json.Unmarshal(w.body.Bytes(), &problem) != nil {
			problem.Detail = w.body.String()
		}
		kind := fault.Invalid
		if w.status == http.StatusConflict {
			kind = fault.Exists
		}
		return nil, fault.New(kind, "%s", problem.Detail)
	}
}

// seedOne makes and fills one container, unless it exists.
func (n *Node) seedOne(ctx context.Context, send transfer.Sender, s *transfer.Seed, now int64) error {
	name := s.Database + "/" + s.Container
	if _, err := n.containerNamed(s.Database, s.Container); err == nil {
		n.log.Info("a container exists and is not seeded", "container", name)
		return nil
	}
	if old, err := n.containerNamed(s.Database, s.Container+seedSuffix); err == nil {
		if err := n.catalog.DeleteContainer(ctx, old); err != nil {
			return err
		}
	}
	to := &transfer.Remote{Send: send, Database: s.Database, Container: s.Container + seedSuffix}
	err := to.CreateAs(ctx, s.Definition, func(err error) bool { return fault.KindOf(err) == fault.Exists })
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "the seed of %s cannot be made: %s", name, err)
	}
	c, err := n.containerNamed(s.Database, s.Container+seedSuffix)
	if err != nil {
		return err
	}
	total, err := n.fill(ctx, to, s, now)
	if err != nil {
		_ = n.catalog.DeleteContainer(context.WithoutCancel(ctx), c) // the next start would do it, too
		return err
	}
	if err := n.catalog.RenameContainer(ctx, c, s.Container, false); err != nil {
		return err
	}
	n.log.Info("a container was seeded", "container", name, "documents", total.Written, "overdue", total.Overdue)
	return nil
}

// fill imports the documents of a seed. Each of them has to be right.
func (n *Node) fill(ctx context.Context, to *transfer.Remote, s *transfer.Seed, now int64) (transfer.Total, error) {
	if s.Items == "" {
		return transfer.Total{}, nil
	}
	o := transfer.ImportOptions{
		Way:    transfer.Way{Stamps: transfer.KeepStamps, OnConflict: transfer.RejectExisting},
		Source: s.Items, StampMember: s.StampMember(),
	}
	total, err := transfer.Import(ctx, func() (transfer.Source, error) { return s.Open(now) }, to, o)
	if err != nil {
		return total, fault.Wrap(fault.Invalid, err, "the seeds in %s cannot be read: %s", s.Items, err)
	}
	for _, r := range total.First {
		return total, fault.New(fault.Invalid, "the seed in line %d of %s is wrong: %s", r.Line, s.Items, r.Reason)
	}
	return total, nil
}

func (n *Node) containerNamed(db, name string) (*catalog.Container, error) {
	owner, err := n.catalog.Database(db)
	if err != nil {
		return nil, fmt.Errorf("find a database: %w", err)
	}
	return n.catalog.Container(owner, name)
}
