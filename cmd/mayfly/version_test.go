package main

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersionOf(t *testing.T) {
	vcs := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs.revision", Value: "c0ffee"}, {Key: "vcs.modified", Value: modified}}
	}
	for name, c := range map[string]struct {
		info *debug.BuildInfo
		want version
	}{
		"go install at a version": {&debug.BuildInfo{Main: debug.Module{Version: "v0.1.0"}},
			version{Version: "v0.1.0"}},
		"go build of a tagged clone": {&debug.BuildInfo{Main: debug.Module{Version: "v0.1.0"}, Settings: vcs("false")},
			version{Version: "v0.1.0", Commit: "c0ffee"}},
		"go build of changes": {&debug.BuildInfo{Main: debug.Module{Version: "v0.1.1-0.20261122151049-c0ffee+dirty"},
			Settings: vcs("true")},
			version{Version: "v0.1.1-0.20261122151049-c0ffee+dirty", Commit: "c0ffee-dirty"}},
		"go test":       {&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, version{Version: "development"}},
		"no build info": {nil, version{Version: "development"}},
	} {
		c.want.Go, c.want.Platform = runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH
		if got := versionOf(c.info, c.info != nil); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// TestReleasedVersion builds as a release does: the version is that of the release, whatever
// the toolchain knows.
func TestReleasedVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mayfly")
	if out, err := exec.Command("go", "build", "-ldflags", "-s -w -X main.released=v9.8.7 -X main.commit=c0ffee", "-o",
		path,
		".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := exec.Command(path, "version").Output()
	if want := "mayfly v9.8.7\ncommit c0ffee\n"; err != nil || !strings.HasPrefix(string(out), want) {
		t.Errorf("%q, error %v, want %q first", out, err, want)
	}
	if want := runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH; !strings.Contains(string(out), want) {
		t.Errorf("%q, want it to have %q", out, want)
	}
}
