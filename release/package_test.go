package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/blakesmith/ar"
	"github.com/ulikunitz/xz"
)

// parts unpacks a Debian package.
func parts(t *testing.T, path string) (control, data map[string]member) {
	t.Helper()
	archive := ar.NewReader(bytes.NewReader(readFile(t, path)))
	for _, want := range []string{"debian-binary", "control.tar.gz", "data.tar.xz"} {
		header, err := archive.Next()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		switch name := strings.TrimSuffix(header.Name, "/"); {
		case name != want:
			t.Fatalf("the package has %s where %s belongs", name, want)
		case want == "debian-binary" && string(content) != "2.0\n":
			t.Errorf("format %q", content)
		case want == "control.tar.gz":
			control = members(t, bytes.NewReader(gunzip(t, content)))
		case want == "data.tar.xz":
			r, err := xz.NewReader(bytes.NewReader(content))
			if err != nil {
				t.Fatal(err)
			}
			data = members(t, r)
		}
	}
	return control, data
}

func TestPackage(t *testing.T) {
	control, data := parts(t, dist("mayfly_0.1.0~rc.1_amd64.deb"))
	fields := "\n" + string(control["./control"].content)
	for _, want := range []string{"Package: mayfly", "Version: 0.1.0~rc.1", "Architecture: amd64", "Depends: adduser",
		"Section: database", "Maintainer: mayfly", "Homepage: https://"} {
		if !strings.Contains(fields, "\n"+want) {
			t.Errorf("no %q in control:%s", want, fields)
		}
	}
	if got := string(control["./conffiles"].content); strings.TrimSpace(got) != "/etc/mayfly/mayfly.conf" {
		t.Errorf("conffiles %q", got)
	}
	for path, mode := range map[string]int{
		"./usr/bin/mayfly": 0o755, "./usr/lib/systemd/system/mayfly.service": 0o644, "./etc/mayfly/mayfly.conf": 0o644,
		"./var/lib/mayfly/":                0o750,
		"./usr/share/doc/mayfly/copyright": 0o644, "./usr/share/doc/mayfly/changelog.gz": 0o644,
		"./usr/share/man/man1/mayfly.1.gz": 0o644, "./usr/share/man/man1/mayfly-serve.1.gz": 0o644,
		"./usr/share/man/man1/mayfly-clock-advance.1.gz": 0o644,
		"./usr/share/bash-completion/completions/mayfly": 0o644, "./usr/share/zsh/vendor-completions/_mayfly": 0o644,
		"./usr/share/fish/vendor_completions.d/mayfly.fish": 0o644,
	} {
		m, ok := data[path]
		if !ok {
			t.Errorf("no %s among %q", path, slices.Sorted(maps.Keys(data)))
			continue
		}
		if int(m.mode()) != mode || m.header.Uname != "root" || m.header.Gname != "root" {
			t.Errorf("%s is %s's and %s's, mode %o, want root's and %o", path, m.header.Uname, m.header.Gname, m.mode(),
				mode)
		}
	}
	if !bytes.Equal(data["./usr/bin/mayfly"].content, readFile(t, program(t))) {
		t.Error("the package has another binary than the archive")
	}
	manual(t, gunzip(t, data["./usr/share/man/man1/mayfly-serve.1.gz"].content))
	if !bytes.Contains(data["./usr/share/bash-completion/completions/mayfly"].content, []byte("__start_mayfly")) {
		t.Error("no completion for bash")
	}
	if sums := string(control["./md5sums"].content); !strings.Contains(sums, "usr/bin/mayfly\n") {
		t.Errorf("md5sums:\n%s", sums)
	}
}

// brokenProgram is the exit code of a program of the machine that fails.
const brokenProgram = 7

// TestMaintainerScripts runs them where the programs that they call are shells that write down how they are called.
func TestMaintainerScripts(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	control, _ := parts(t, dist("mayfly_0.1.0~rc.1_amd64.deb"))
	for _, c := range []struct {
		script, args string
		calls        []string // in this order, and no others
		code         int
	}{
		{"postinst", "configure", []string{
			"adduser --system --group --quiet --home /var/lib/mayfly --no-create-home mayfly",
			"chown mayfly:mayfly ROOT/var/lib/mayfly",
			"deb-systemd-helper unmask mayfly.service", "deb-systemd-helper --quiet was-enabled mayfly.service",
			"deb-systemd-helper enable mayfly.service",
			"systemctl --system daemon-reload", "deb-systemd-invoke restart mayfly.service"}, 0},
		{"postinst", "configure", []string{ // no key can be made
			"adduser --system --group --quiet --home /var/lib/mayfly --no-create-home mayfly",
			"chown mayfly:mayfly ROOT/var/lib/mayfly"}, brokenProgram},
		{"postinst", "abort-upgrade 0.1.0", nil, 0},
		{"postinst", "sing", nil, 1},
		{"prerm", "remove", []string{"deb-systemd-invoke stop mayfly.service"}, 0},
		{"prerm", "upgrade 0.2.0", nil, 0},
		{"postrm", "remove", []string{"systemctl --system daemon-reload"}, 0},
		{"postrm", "purge", []string{"deb-systemd-helper purge mayfly.service"}, 0},
		{"postrm", "upgrade 0.2.0", nil, 0},
	} {
		t.Run(c.script+" "+c.args, func(t *testing.T) {
			m := control["./"+c.script]
			if m.mode() != 0o755 {
				t.Errorf("mode %o", m.mode())
			}
			root, bin := t.TempDir(), t.TempDir()
			calls := filepath.Join(bin, "calls")
			if c.code == brokenProgram {
				if err := os.WriteFile(filepath.Join(bin, "base64"),
					fmt.Appendf(nil, "#!/bin/sh\nexit %d\n", brokenProgram), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			for _, name := range []string{"adduser", "chown", "systemctl", "deb-systemd-helper", "deb-systemd-invoke"} {
				stub := fmt.Sprintf("#!/bin/sh\necho %s \"$@\" >>%s\n", name, calls)
				if err := os.WriteFile(filepath.Join(bin, name), []byte(stub), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			for _, dir := range []string{"etc/mayfly", "var/lib/mayfly", "run/systemd/system"} {
				if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			// The folders of the machine become those of the test.
			text := strings.NewReplacer("/etc/mayfly", root+"/etc/mayfly", "mayfly:mayfly /var",
				"mayfly:mayfly "+root+"/var", "/run/systemd", root+"/run/systemd").Replace(string(m.content))
			run := exec.Command("sh", append([]string{"-c", text, c.script}, strings.Fields(c.args)...)...)
			run.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
			out, _ := run.CombinedOutput()
			if code := run.ProcessState.ExitCode(); code != c.code {
				t.Errorf("exit %d, want %d: %s", code, c.code, out)
			}
			called, _ := os.ReadFile(calls)
			want := strings.ReplaceAll(strings.Join(c.calls, "\n"), "ROOT", root)
			if strings.TrimSpace(string(called)) != want {
				t.Errorf("it calls\n%s\nwant\n%s", called, want)
			}
			key := filepath.Join(root, "etc/mayfly/key.env")
			if c.script != "postinst" || c.args != "configure" {
				return
			}
			info, err := os.Stat(key)
			if c.code == brokenProgram {
				if err == nil {
					t.Errorf("a file without a key: %q", readFile(t, key))
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if content := string(readFile(t, key)); info.Mode().Perm() != 0o600 ||
				len(content) != len("MAYFLY_KEY=\n")+88 || strings.Count(content, "\n") != 1 {
				t.Errorf("a key of %d bytes, mode %v", len(content), info.Mode())
			}
		})
	}
}
