package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
)

// A container is the image unpacked, as a container engine would, with other ports: those of the
// image may be in use.
type container struct {
	root string
	env  []string
	as   *syscall.SysProcAttr
}

// unpack makes a container. With root's rights mayfly sees the image's files only, and runs as its user.
func unpack(t *testing.T) (c container, admin string) {
	t.Helper()
	program(t) // skips elsewhere
	file, files := dockerImage(t)
	c.root = t.TempDir()
	if err := os.Chmod(c.root, 0o755); err != nil {
		t.Fatal(err)
	}
	root := os.Getuid() == 0
	for name, m := range files {
		path := filepath.Join(c.root, name)
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
			if root {
				if err := os.Chown(path, m.header.Uid, m.header.Gid); err != nil {
					t.Fatal(err)
				}
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, m.content, m.mode()); err != nil {
			t.Fatal(err)
		}
	}
	c.as = &syscall.SysProcAttr{}
	if root {
		c.as.Chroot, c.as.Credential = c.root, &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	for _, variable := range file.Config.Env {
		name, value, _ := strings.Cut(variable, "=")
		switch {
		case strings.HasPrefix(value, ":"):
			value = freePort(t)
		case name == "MAYFLY_DATA" && !root:
			value = filepath.Join(c.root, value)
		}
		if name == "MAYFLY_ADMIN" {
			admin = "http://127.0.0.1" + value
		}
		c.env = append(c.env, name+"="+value)
	}
	return c, admin
}

// freePort is ":" and a port that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return ":" + port
}

// command is a program of the container.
func (c container) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	if c.as.Chroot == "" {
		cmd.Path = filepath.Join(c.root, args[0])
	} else {
		cmd.Dir = "/data"
	}
	cmd.Env, cmd.SysProcAttr = c.env, c.as
	return cmd
}

// TestImageRuns starts the image as its configuration says, asks for its health as that says, and sends
// what Kubernetes sends.
func TestImageRuns(t *testing.T) {
	c, admin := unpack(t)
	file, _ := dockerImage(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	server := c.command(ctx, append(file.Config.Entrypoint, file.Config.Cmd...)...)
	var log bytes.Buffer
	server.Stderr = &log
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	var greeting strings.Builder
	for chunk := make([]byte, 4096); !strings.Contains(greeting.String(), "Ctrl-C"); {
		n, err := out.Read(chunk)
		greeting.Write(chunk[:n])
		if err != nil {
			server.Wait()
			t.Fatalf("it ended: %s%s", greeting.String(), log.String())
		}
	}
	for _, want := range []string{"This is an emulator", "the well-known emulator key", "needs no password", "/data"} {
		if !strings.Contains(greeting.String(), want) {
			t.Errorf("no %q in\n%s", want, greeting.String())
		}
	}
	if out, err := c.command(ctx, file.Config.Healthcheck.Test[1:]...).CombinedOutput(); err != nil ||
		string(out) != "ready\n" {
		t.Errorf("health: %q, error %v", out, err)
	}
	for _, path := range probes(t) {
		answer, err := http.Get(admin + path)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", path, answer.Status)
		}
	}
	if answer, err := http.Get(admin + "/clock"); err != nil || answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("the clock without a key: %v, error %v", answer, err)
	}
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, out)
	if err := server.Wait(); err != nil {
		t.Errorf("it ended with %v\n%s", err, log.String())
	}
	if out, err := c.command(ctx, file.Config.Healthcheck.Test[1:]...).CombinedOutput(); err == nil {
		t.Errorf("health when it has stopped: %q", out)
	}
}

// probes are the paths that the StatefulSet asks.
func probes(t *testing.T) (paths []string) {
	t.Helper()
	set := kubernetes[appsv1.StatefulSet](t, "StatefulSet")
	c := set.Spec.Template.Spec.Containers[0]
	return []string{c.StartupProbe.HTTPGet.Path, c.ReadinessProbe.HTTPGet.Path, c.LivenessProbe.HTTPGet.Path}
}
