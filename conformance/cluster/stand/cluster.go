package stand

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// A Cluster is a placement driver and one store.
type Cluster struct {
	Address   string // of the placement driver, host:port
	Placement *Process
	Store     *Process
}

// NewCluster starts a cluster without data that ends with the test.
func NewCluster(t testing.TB) *Cluster {
	t.Helper()
	program := Build(t, "./cmd/stand")
	pd, store := Address(t), Address(t)
	c := &Cluster{Address: pd}
	c.Placement = Start(t, "placement", program, healthy(pd), "placement", "-data", t.TempDir(), "-listen", pd)
	c.Store = Start(t, "store", program, healthy(store),
		"store", "-data", t.TempDir(), "-listen", store, "-placement", pd)
	return c
}

// healthy asks the gRPC health service at an address.
func healthy(address string) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return err
		}
		defer conn.Close()
		resp, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{})
		if err == nil && resp.Status != healthpb.HealthCheckResponse_SERVING {
			err = fmt.Errorf("health is %v", resp.Status)
		}
		return err
	}
}

// built are the programs that this test process has built.
var built struct {
	sync.Mutex
	folder string
	paths  map[string]string
}

// Build compiles a command of this module, or of another folder's, once.
func Build(t testing.TB, command string) string {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	if path := built.paths[command]; path != "" {
		return path
	}
	if built.folder == "" {
		folder, err := os.MkdirTemp("", "cluster-programs-")
		if err != nil {
			t.Fatal(err)
		}
		built.folder, built.paths = folder, map[string]string{}
	}
	path := filepath.Join(built.folder, filepath.Base(command))
	build := exec.Command("go", "build", "-o", path, ".")
	build.Dir = command
	if printed, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", command, err, printed)
	}
	built.paths[command] = path
	return path
}

// Clean removes the programs that Build made; TestMain calls it at the end.
func Clean() error {
	built.Lock()
	defer built.Unlock()
	return os.RemoveAll(built.folder)
}
