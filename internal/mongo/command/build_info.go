package command

import (
	"runtime"

	"github.com/mayflydb/mayfly/internal/mongo/update"
)

// serverVersion is the version of MongoDB that clients see: they choose features by it.
const serverVersion = "7.0.14"

var versionArray = []int{7, 0, 14, 0}

func buildInfo(r *request, a *answer) error {
	a.String("version", serverVersion)
	a.String("gitVersion", "mayfly "+r.s.o.Version)
	a.Strings("modules", nil)
	a.String("allocator", "go")
	a.String("javascriptEngine", "none")
	a.String("sysInfo", "deprecated")
	a.Array("versionArray")
	for _, n := range versionArray {
		a.Int32(a.Index(), n)
	}
	a.Close()
	a.Object("openssl")
	a.String("running", "Go crypto/tls")
	a.String("compiled", "Go crypto/tls")
	a.Close()
	a.Object("buildEnvironment")
	a.String("cc", runtime.Version())
	a.String("target_os", runtime.GOOS)
	a.String("target_arch", runtime.GOARCH)
	a.Close()
	a.Int32("bits", 64)
	a.Bool("debug", false)
	a.Int32("maxBsonObjectSize", update.MaxBytes)
	a.Strings("storageEngines", []string{"mayfly"})
	a.Object("mayfly")
	a.String("version", r.s.o.Version)
	a.Close()
	return nil
}
