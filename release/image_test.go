package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// TestImageIsAnOCILayout reads the archive as podman, containerd and crane do: by index.json, which must have one
// entry. github.com/containers/common: libimage/load.go; github.com/containerd/containerd:
// core/images/archive/importer.go.
func TestImageIsAnOCILayout(t *testing.T) {
	dir := t.TempDir()
	for name, m := range members(t, bytes.NewReader(readFile(t, dist("mayfly_v0.1.0-rc.1_image.tar")))) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, m.content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	outer, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(outer); err != nil {
		t.Error(err)
	}
	manifest, err := outer.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(manifest.Manifests) != 1 {
		t.Fatalf("%d entries, want one, for all platforms", len(manifest.Manifests))
	}
	entry := manifest.Manifests[0]
	const name = "ghcr.io/mayflydb/mayfly:v0.1.0-rc.1"
	if entry.MediaType != types.OCIImageIndex || entry.Annotations["org.opencontainers.image.ref.name"] != name ||
		entry.Annotations["io.containerd.image.name"] != name {
		t.Errorf("entry %+v", entry)
	}
	index, err := outer.ImageIndex(entry.Digest)
	if err != nil {
		t.Fatal(err)
	}
	platforms, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(platforms.Manifests) != 1 || platforms.Manifests[0].Platform.String() != "linux/amd64" {
		t.Errorf("platforms %+v", platforms.Manifests)
	}
}

// TestImageIsADockerArchive reads the archive as Docker's older store does: by manifest.json.
// github.com/moby/moby: image/tarexport/load.go.
func TestImageIsADockerArchive(t *testing.T) {
	image, err := tarball.ImageFromPath(dist("mayfly_v0.1.0-rc.1_image.tar"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Image(image); err != nil {
		t.Error(err)
	}
	var manifest tarball.Manifest
	text := members(t, bytes.NewReader(readFile(t, dist("mayfly_v0.1.0-rc.1_image.tar"))))["manifest.json"].content
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	want := []string{"ghcr.io/mayflydb/mayfly:v0.1.0-rc.1", "ghcr.io/mayflydb/mayfly:v0.1.0-rc.1-amd64"}
	if len(manifest) != 1 || !slices.Equal(manifest[0].RepoTags, want) {
		t.Errorf("tags %+v, want %q", manifest, want)
	}
}

// dockerImage is the image for this machine, its configuration, and the files of its layer.
func dockerImage(t *testing.T) (*v1.ConfigFile, map[string]member) {
	t.Helper()
	image, err := tarball.ImageFromPath(dist("mayfly_v0.1.0-rc.1_image.tar"), nil)
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers, error %v", len(layers), err)
	}
	r, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return config, members(t, r)
}

func TestImageFiles(t *testing.T) {
	_, files := dockerImage(t)
	if m := files["usr/bin/mayfly"]; m.header.Mode != 0o755 || !bytes.Equal(m.content, readFile(t, program(t))) {
		t.Errorf("the binary has mode %o and %d bytes, or is another than the archive's", m.header.Mode, len(m.content))
	}
	// A fresh volume takes owner and mode of the folder that it is mounted on.
	if m := files["data/"]; m.header.Typeflag != tar.TypeDir || m.header.Uid != nobody || m.header.Gid != nobody ||
		m.header.Mode != 0o750 {
		t.Errorf("/data: %+v", m.header)
	}
	if len(files["usr/share/doc/mayfly/LICENSE"].content) == 0 {
		t.Error("there is no license")
	}
}

func TestImageConfig(t *testing.T) {
	file, _ := dockerImage(t)
	config := file.Config
	if file.OS != "linux" || file.Architecture != "amd64" || !file.Created.Equal(built.date) {
		t.Errorf("%s/%s of %s", file.OS, file.Architecture, file.Created)
	}
	if user, group, _ := strings.Cut(config.User, ":"); user != "65532" || group != "65532" {
		t.Errorf("user %q, want one that is not root, in numbers", config.User)
	}
	if got := strings.Join(append(config.Entrypoint, config.Cmd...), " "); got != "/usr/bin/mayfly serve --emulator" {
		t.Errorf("it runs %q", got)
	}
	if _, ok := config.Volumes["/data"]; !ok {
		t.Errorf("volumes %v", config.Volumes)
	}
	if got := strings.Join(config.Healthcheck.Test, " "); got != "CMD /usr/bin/mayfly health" {
		t.Errorf("health check %q", got)
	}
	var names []string
	ports := map[string]bool{}
	for _, variable := range config.Env {
		name, value, _ := strings.Cut(variable, "=")
		names = append(names, name)
		if host, port, ok := strings.Cut(value, ":"); ok {
			ports[port+"/tcp"] = host == "" // every address
		}
	}
	wantSettings(t, names)
	for port := range config.ExposedPorts {
		if !ports[port] {
			t.Errorf("nothing listens on %s of every address: %q", port, config.Env)
		}
	}
	if len(ports) != 3 || len(config.ExposedPorts) != 3 {
		t.Errorf("ports %v, environment %q", config.ExposedPorts, config.Env)
	}
}
