package node

import (
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/mayflydb/mayfly/internal/admin"
	"github.com/mayflydb/mayfly/internal/audit"
	"github.com/mayflydb/mayfly/internal/catalog"
)

// adminAudit is the audit trail as the admin API shows it.
type adminAudit struct{ n *Node }

// Write sends events as JSON lines.
func (a adminAudit) Write(ctx context.Context, w io.Writer, part admin.AuditPart) error {
	ctx, leave := a.n.gate.enterLong(ctx)
	defer leave()
	defer endWith(ctx, w)()
	out := json.NewEncoder(w)
	for e, err := range a.n.catalog.Events(ctx, catalog.Stretch(part)) {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = out.Encode(e)
		}
		if err != nil {
			return whyEnded(ctx, err)
		}
	}
	return nil
}

// adminCaller adds the sender of a request to the admin API to its context, for the audit trail.
func (n *Node) adminCaller(ctx context.Context, r *http.Request, key string) context.Context {
	who := audit.Who{API: audit.Admin, Address: r.RemoteAddr}
	if k := n.keys.Now().Find(key); k != nil {
		who.Principal = string(k.Name)
	}
	return audit.With(ctx, who)
}
