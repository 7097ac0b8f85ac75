package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/loader"
	compose "github.com/compose-spec/compose-go/v2/types"
	"github.com/coreos/go-systemd/v22/unit"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// stopTime is how long mayfly lets running requests go on, see cmd/mayfly/serve.go. Whoever stops it must wait longer.
const stopTime = 10 * time.Second

func deploy(elem ...string) string {
	return filepath.Join(append([]string{"..", "deploy"}, elem...)...)
}

// imagePorts are those that the image exposes.
func imagePorts(t *testing.T) (ports []string) {
	t.Helper()
	file, _ := dockerImage(t)
	for port := range file.Config.ExposedPorts {
		ports = append(ports, strings.TrimSuffix(port, "/tcp"))
	}
	return ports
}

func TestCompose(t *testing.T) {
	project, err := loader.LoadWithContext(t.Context(), compose.ConfigDetails{
		WorkingDir: deploy(), ConfigFiles: compose.ToConfigFiles([]string{deploy("compose.yaml")}),
	})
	if err != nil {
		t.Fatal(err)
	}
	s, ok := project.Services["mayfly"]
	if !ok || !strings.HasPrefix(s.Image, imageName+":") {
		t.Fatalf("the services are %v", project.ServiceNames())
	}
	file, _ := dockerImage(t)
	want := imagePorts(t)
	for _, p := range s.Ports {
		if p.HostIP != "127.0.0.1" || !slices.Contains(want, p.Published) || p.Published != itoa(p.Target) {
			t.Errorf("port %+v, want one of %q, for this machine only", p, want)
		}
	}
	if len(s.Ports) != len(want) {
		t.Errorf("%d ports, want %q", len(s.Ports), want)
	}
	if _, ok := project.Volumes["data"]; !ok || s.Volumes[0].Source != "data" || s.Volumes[0].Target != "/data" {
		t.Errorf("volumes %+v of %+v", s.Volumes, project.Volumes)
	}
	if !slices.Equal(s.HealthCheck.Test, file.Config.Healthcheck.Test) {
		t.Errorf("health check %q, the image's is %q", s.HealthCheck.Test, file.Config.Healthcheck.Test)
	}
	if s.StopGracePeriod == nil || time.Duration(*s.StopGracePeriod) <= stopTime {
		t.Errorf("stops within %v", s.StopGracePeriod)
	}
	if len(s.Command) > 0 || len(s.Entrypoint) > 0 {
		t.Errorf("it runs %q %q, not what the image does", s.Entrypoint, s.Command)
	}
	if s.Restart != "unless-stopped" || !s.ReadOnly {
		t.Errorf("restart %q, read-only %v", s.Restart, s.ReadOnly)
	}
}

func itoa(port uint32) string { return strconv.FormatUint(uint64(port), 10) }

// kubernetes decodes the object of a kind in the manifest of one mayfly.
func kubernetes[T any](t *testing.T, kind string) T {
	t.Helper()
	return manifest[T](t, deploy("kubernetes", "statefulset.yaml"), kind, "mayfly")
}

// manifest decodes the object of a kind and a name, and refuses members that its type does not have.
func manifest[T any](t *testing.T, path, kind, name string) (object T) {
	t.Helper()
	for text := range bytes.SplitSeq(readFile(t, path), []byte("\n---\n")) {
		var about struct {
			Kind     string            `json:"kind"`
			Metadata metav1.ObjectMeta `json:"metadata"`
		}
		if err := yaml.Unmarshal(text, &about); err != nil {
			t.Fatal(err)
		}
		if about.Kind != kind || about.Metadata.Name != name {
			continue
		}
		if err := yaml.UnmarshalStrict(text, &object); err != nil {
			t.Fatal(err)
		}
		return object
	}
	t.Fatalf("%s has no %s %s", path, kind, name)
	return object
}

func TestKubernetes(t *testing.T) {
	service, set := kubernetes[corev1.Service](t, "Service"), kubernetes[appsv1.StatefulSet](t, "StatefulSet")
	if set.APIVersion != "apps/v1" || service.APIVersion != "v1" || *set.Spec.Replicas != 1 ||
		set.Spec.ServiceName != service.Name {
		t.Errorf("%s with %d replicas of service %q", set.APIVersion, *set.Spec.Replicas, set.Spec.ServiceName)
	}
	for key, value := range set.Spec.Selector.MatchLabels {
		if set.Spec.Template.Labels[key] != value || service.Spec.Selector[key] != value {
			t.Errorf("the label %s is not the same everywhere", key)
		}
	}
	pod := set.Spec.Template.Spec
	if time.Duration(*pod.TerminationGracePeriodSeconds)*time.Second <= stopTime {
		t.Errorf("stops within %d s", *pod.TerminationGracePeriodSeconds)
	}
	if s := pod.SecurityContext; !*s.RunAsNonRoot || *s.RunAsUser != nobody || *s.FSGroup != nobody {
		t.Errorf("runs as %+v", s)
	}
	if pod.EnableServiceLinks == nil || *pod.EnableServiceLinks {
		t.Error("the environment has variables of services, such as MAYFLY_PORT")
	}
	c := pod.Containers[0]
	if s := c.SecurityContext; !*s.ReadOnlyRootFilesystem || *s.AllowPrivilegeEscalation {
		t.Errorf("the container may do %+v", s)
	}
	var variables []string
	for _, v := range c.Env {
		variables = append(variables, v.Name)
	}
	wantSettings(t, variables)
	if c.Env[0].Name != "MAYFLY_KEY" || c.Env[0].ValueFrom.SecretKeyRef.Name == "" {
		t.Errorf("the key is no secret: %+v", c.Env)
	}
	if slices.Contains(c.Args, "--emulator") {
		t.Error("it is an emulator")
	}
	wantFlags(t, c.Args)
	ports := map[string]int32{}
	for _, p := range c.Ports {
		ports[p.Name] = p.ContainerPort
		if !slices.Contains(imagePorts(t), itoa(uint32(p.ContainerPort))) {
			t.Errorf("nothing listens on %d", p.ContainerPort)
		}
	}
	for _, p := range service.Spec.Ports {
		if ports[p.TargetPort.String()] != p.Port {
			t.Errorf("port %+v leads nowhere", p)
		}
	}
	for _, probe := range []*corev1.Probe{c.StartupProbe, c.ReadinessProbe, c.LivenessProbe} {
		if ports[probe.HTTPGet.Port.String()] != 8080 {
			t.Errorf("a probe of %s", probe.HTTPGet.Port.String())
		}
	}
	if set.Spec.VolumeClaimTemplates[0].Name != c.VolumeMounts[0].Name || c.VolumeMounts[0].MountPath != "/data" {
		t.Errorf("volumes %+v", c.VolumeMounts)
	}
}

// wantFlags checks that what begins with -- is a setting.
func wantFlags(t *testing.T, args []string) {
	t.Helper()
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		if flag, ok := strings.CutPrefix(name, "--"); ok && !slices.Contains(settings(t), flag) {
			t.Errorf("there is no %s", arg)
		}
	}
}

func TestSystemd(t *testing.T) {
	text := readFile(t, deploy("systemd", "mayfly.service"))
	options, err := unit.DeserializeOptions(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	for _, o := range options {
		values[o.Section+" "+o.Name] = o.Value
	}
	for name, want := range map[string]string{
		"Service Type": "exec", "Service User": "mayfly", "Service StateDirectory": "mayfly",
		"Service Restart":       "on-failure",
		"Service ProtectSystem": "strict", "Service NoNewPrivileges": "yes", "Install WantedBy": "multi-user.target",
		"Service EnvironmentFile": "/etc/mayfly/key.env",
	} {
		if values[name] != want {
			t.Errorf("%s is %q, want %q", name, values[name], want)
		}
	}
	if d, err := time.ParseDuration(values["Service TimeoutStopSec"]); err != nil || d <= stopTime {
		t.Errorf("stops within %s", d)
	}
	start := strings.Fields(values["Service ExecStart"])
	if want := []string{"/usr/bin/mayfly", "serve", "--config", "/etc/mayfly/mayfly.conf"}; !slices.Equal(start, want) {
		t.Errorf("it runs %q, want %q", start, want)
	}
	wantFlags(t, start)

	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip(err)
	}
	path := filepath.Join(t.TempDir(), "mayfly.service")
	here := bytes.ReplaceAll(text, []byte("ExecStart=/usr/bin/mayfly"), []byte("ExecStart="+program(t)))
	if err := os.WriteFile(path, here, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(analyze, "verify", "--man=no", path).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze: %v\n%s", err, out)
	}
}

// TestSystemdSettings starts mayfly with the file of settings, and other addresses.
func TestSystemdSettings(t *testing.T) {
	text := string(readFile(t, deploy("systemd", "mayfly.conf")))
	if !strings.Contains(text, "\ndata = /var/lib/mayfly\n") {
		t.Errorf("the data is not in the folder of the unit:\n%s", text)
	}
	path := filepath.Join(t.TempDir(), "mayfly.conf")
	for old, new := range map[string]string{"/var/lib/mayfly": t.TempDir(), ":8081\n": ":0\n", ":27017\n": ":0\n",
		":8080\n": ":0\n"} {
		text = strings.ReplaceAll(text, old, new)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program(t), "serve", "--config", path)
	cmd.Env = append(os.Environ(), "MAYFLY_KEY="+strings.Repeat("k", 43)+"=")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	greeting := make([]byte, 0, 4096)
	for !bytes.Contains(greeting, []byte("Ctrl-C")) {
		n, err := out.Read(greeting[len(greeting):cap(greeting)])
		if err != nil {
			t.Fatalf("it ended: %s", greeting)
		}
		greeting = greeting[:len(greeting)+n]
	}
	for _, want := range []string{"Key     as given", "any user name works"} {
		if !bytes.Contains(greeting, []byte(want)) {
			t.Errorf("no %q in\n%s", want, greeting)
		}
	}
	if bytes.Contains(greeting, []byte("other machines")) {
		t.Errorf("other machines reach it:\n%s", greeting)
	}
}
