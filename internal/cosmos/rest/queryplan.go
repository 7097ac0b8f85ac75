package rest

import (
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/exec"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/plan"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// queryPlan answers a client that merges partitions itself: which queries to send to each partition, and how to
// combine their rows.
func (e *exchange) queryPlan(v catalog.View, q queryRequest, env exec.Environment) (int, error) {
	if _, err := exec.Prepare(q.tree, env, nil); err != nil {
		return 0, err
	}
	features := plan.ParseFeatures(e.given(hQueryFeatures))
	p, err := gatewayPlan(v, q, env, features)
	switch stopped := env.Stop(); {
	case stopped == exec.ErrLate:
		return 0, errPlanTime
	case stopped != nil:
		return 0, stopped
	case err != nil:
		return 0, err
	}
	if err := features.Check(p); err != nil {
		return 0, err
	}
	e.reply = p.AppendJSON(e.reply[:0])
	return http.StatusOK, nil
}

var errPlanTime = fault.New(fault.Timeout, "The query takes too long to plan. Compute its constants in the client.")

// gatewayPlan makes the plan of a query over a container.
func gatewayPlan(
	v catalog.View, q queryRequest, env exec.Environment, features plan.Features,
) (*plan.GatewayPlan, error) {
	partition, limited := env.Base.(access.Partition)
	return plan.Gateway(q.tree, plan.GatewayEnvironment{
		Constant:     exec.Constants(env),
		Partition:    env.Schema.Partition,
		Hierarchical: env.Schema.Hierarchical,
		EPK: func(values []doc.Value) string {
			return strings.ToUpper(hex.EncodeToString(store.EffectivePartitionKey(v.State, values)))
		},
		Distance:     env.Distance,
		OnePartition: limited && len(partition) == len(v.Partition.Paths),
		Supported:    features,
	})
}

// vectorDistance returns a function that finds the distance function for a path in a container's vector policy, or
// nil if the container has no such policy.
func vectorDistance(st *catalog.State) func(access.Path) string {
	policy, _ := doc.AsDoc(doc.Lookup(st.Echo, "vectorEmbeddingPolicy"))
	embeddings := doc.Lookup(policy, "vectorEmbeddings")
	if !doc.IsArray(embeddings) {
		return nil
	}
	return func(at access.Path) string {
		for v := range doc.Elements(embeddings) {
			fields, _ := doc.AsDoc(v)
			text, _ := doc.AsString(doc.Lookup(fields, "path"))
			path, err := doc.ParsePath(text)
			if err == nil && samePath(path, at) {
				name, _ := doc.AsString(doc.Lookup(fields, "distanceFunction"))
				return strings.Clone(name)
			}
		}
		return ""
	}
}

func samePath(p doc.Path, at access.Path) bool {
	if len(p) != len(at) {
		return false
	}
	for i, token := range p {
		if token.Kind != doc.TokenMember || at[i].Element || token.Name != at[i].Name {
			return false
		}
	}
	return true
}
