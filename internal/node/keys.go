package node

import (
	"context"
	"errors"

	"github.com/mayflydb/mayfly/internal/admin"
	"github.com/mayflydb/mayfly/internal/audit"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/keyring"
)

// adminKeys is the account keys as the admin API shows and replaces them.
type adminKeys struct{ *Node }

// List describes all keys.
func (a adminKeys) List(_ context.Context, show bool) (list []admin.AccountKey, err error) {
	if show {
		if err := a.keys.Keep(); err != nil {
			return nil, err
		}
	}
	for _, k := range a.keys.Now() {
		list = append(list, describeKey(k, show))
	}
	return list, nil
}

func describeKey(k *keyring.Key, show bool) admin.AccountKey {
	d := admin.AccountKey{Name: string(k.Name), ReadOnly: k.ReadOnly(), Origin: k.Origin, Since: k.Since}
	if show {
		d.Key = k.Text
	}
	return d
}

// Rotate replaces a key. The audit trail has it before it happens; if it then fails, the trail has that too.
func (a adminKeys) Rotate(ctx context.Context, name string) (admin.AccountKey, error) {
	a.gate.Enter()
	defer a.gate.Leave()
	event := audit.Event{Action: "rotate", Kind: "key", Target: name}
	if err := a.keys.Replaceable(keyring.Name(name)); err != nil {
		return admin.AccountKey{}, err
	}
	if err := a.catalog.Audit(ctx, event); err != nil {
		return admin.AccountKey{}, err
	}
	k, err := a.keys.Rotate(keyring.Name(name), clock.Wall().UTC())
	if err != nil {
		event.Action = "fail to rotate"
		return admin.AccountKey{}, errors.Join(err, a.catalog.Audit(context.WithoutCancel(ctx), event))
	}
	a.log.Info("an account key was replaced", "key", name)
	return describeKey(k, true), nil
}
