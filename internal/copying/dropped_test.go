package copying_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/copying"
)

// TestTargetIsDropped interrupts a copy of two containers in the second one, and drops one of them at the target. The
// same copy makes it anew, with everything in it.
func TestTargetIsDropped(t *testing.T) {
	for _, mongo := range []bool{false, true} {
		for _, dropped := range []string{"done", "half"} {
			name := fmt.Sprint("mongo=", mongo, " ", dropped)
			t.Run(name, func(t *testing.T) { testTargetIsDropped(t, mongo, dropped) })
		}
	}
}

func testTargetIsDropped(t *testing.T, isMongo bool, dropped string) {
	from, to := newBox(t), newBox(t)
	o := copying.Options{Batch: 10, Checkpoint: filepath.Join(t.TempDir(), "checkpoint"), Compare: true}
	if isMongo {
		o.From, o.To = from.mongo("shop"), to.mongo("shop")
	} else {
		o.From, o.To = from.nosql("shop"), to.nosql("shop")
	}
	for _, name := range []string{"done", "half"} {
		if isMongo {
			for n := range 40 {
				_, err := from.db("shop").Collection(name).InsertOne(t.Context(), bson.D{{Key: "_id", Value: n}})
				from.ok(err)
			}
			continue
		}
		c := from.create("shop", azcosmos.ContainerProperties{ID: name})
		for n := range 40 {
			put(t, c, "k", fmt.Sprintf(`{"id":"%03d","pk":"k"}`, n))
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	o.Progress = func(container string, read, _ int64) {
		if container == "shop/half" && read >= 20 {
			stop()
		}
	}
	if _, err := copying.Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if isMongo {
		to.ok(to.db("shop").Collection(dropped).Drop(t.Context()))
	} else {
		_, err := to.container("shop", dropped).Delete(t.Context(), nil)
		to.ok(err)
	}
	o.Progress = nil
	result, err := copying.Run(t.Context(), o)
	to.ok(err)
	for _, p := range result.Containers {
		if !p.Created || p.Read != 40 || p.Written != 40 || p.Skipped != 0 || p.Compared != 40 || p.Different != 0 {
			t.Errorf("%+v", p)
		}
	}
}
