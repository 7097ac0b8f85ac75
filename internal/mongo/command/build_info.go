package command

import (
	"runtime"

	"github.com/mayflydb/mayfly/internal/mongo/update"
)

// serverVersion is the version of MongoDB that clients see: they choose features by it.
const serverVersion = "7.0.14"

var versionArray = []int{7, 0, 14, 0}

func buildInfo(r *request, a *answer) error {
	a.string("version", serverVersion)
	a.string("gitVersion", "mayfly "+r.s.o.Version)
	a.strings("modules", nil)
	a.string("allocator", "go")
	a.string("javascriptEngine", "none")
	a.string("sysInfo", "deprecated")
	a.array("versionArray")
	for _, n := range versionArray {
		a.int32(a.index(), n)
	}
	a.close()
	a.object("openssl")
	a.string("running", "Go crypto/tls")
	a.string("compiled", "Go crypto/tls")
	a.close()
	a.object("buildEnvironment")
	a.string("cc", runtime.Version())
	a.string("target_os", runtime.GOOS)
	a.string("target_arch", runtime.GOARCH)
	a.close()
	a.int32("bits", 64)
	a.bool("debug", false)
	a.int32("maxBsonObjectSize", update.MaxBytes)
	a.strings("storageEngines", []string{"mayfly"})
	a.object("mayfly")
	a.string("version", r.s.o.Version)
	a.close()
	return nil
}
