package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/loader"
	compose "github.com/compose-spec/compose-go/v2/types"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// clusterVersion is the version of PD and TiKV that all files name.
const clusterVersion = "v8.5.6"

// Flags of the servers of a cluster.
// https://github.com/tikv/pd/blob/v8.5.6/server/config/config.go, https://github.com/tikv/pd/blob/v8.5.6/cmd/pd-server,
// https://github.com/tikv/tikv/blob/v8.5.6/cmd/tikv-server/src/main.rs
var (
	pdFlags = []string{"name", "data-dir", "client-urls", "advertise-client-urls", "peer-urls", "advertise-peer-urls",
		"initial-cluster"}
	tikvFlags = []string{"pd-endpoints", "addr", "advertise-addr", "status-addr", "advertise-status-addr", "data-dir"}
)

// flagsOf splits arguments of the form --name=value, all of which have to be known.
func flagsOf(t *testing.T, args, known []string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, arg := range args {
		name, value, ok := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if !ok || !strings.HasPrefix(arg, "--") || !slices.Contains(known, name) || value == "" || found[name] != "" {
			t.Errorf("the argument %q", arg)
		}
		found[name] = value
	}
	return found
}

// wantPD checks the members of a cluster of PD, which call each other host:port.
func wantPD(t *testing.T, args map[string][]string, host func(name string) string) (endpoints string) {
	t.Helper()
	var initial, clients []string
	for _, name := range slices.Sorted(maps.Keys(args)) {
		initial = append(initial, fmt.Sprintf("%s=http://%s:2380", name, host(name)))
		clients = append(clients, host(name)+":2379")
	}
	for name, args := range args {
		want := map[string]string{
			"name": name, "data-dir": flagsOf(t, args, pdFlags)["data-dir"],
			"client-urls": "http://0.0.0.0:2379", "advertise-client-urls": "http://" + host(name) + ":2379",
			"peer-urls": "http://0.0.0.0:2380", "advertise-peer-urls": "http://" + host(name) + ":2380",
			"initial-cluster": strings.Join(initial, ","),
		}
		if got := flagsOf(t, args, pdFlags); !maps.Equal(got, want) || !strings.HasPrefix(got["data-dir"], "/data") {
			t.Errorf("%s runs with %q, want %q", name, got, want)
		}
	}
	return strings.Join(clients, ",")
}

func wantTiKV(t *testing.T, args []string, host, pd string) {
	t.Helper()
	got := flagsOf(t, args, tikvFlags)
	if got["pd-endpoints"] != pd || got["addr"] != "0.0.0.0:20160" || got["advertise-addr"] != host+":20160" ||
		got["status-addr"] != "0.0.0.0:20180" || !strings.HasPrefix(got["data-dir"], "/data") {
		t.Errorf("%s runs with %q", host, got)
	}
	if at := got["advertise-status-addr"]; at != "" && at != host+":20180" {
		t.Errorf("%s has its status at %s", host, at)
	}
}

// wantMayfly lets the program read arguments and variables as the image would, with a cluster that is not there: what
// does not fit is refused before the cluster is asked.
func wantMayfly(t *testing.T, args []string, env map[string]string, pd string) {
	t.Helper()
	if i := slices.Index(args, "--engine=tikv://"+pd+"/mayfly"); i < 0 {
		t.Errorf("no engine at %s in %q", pd, args)
	} else {
		args = slices.Clone(args)
		args[i] = "--engine=tikv://127.0.0.1:1/mayfly"
	}
	file, _ := dockerImage(t)
	variables := slices.Clone(file.Config.Env)
	for name, value := range env {
		variables = append(variables, name+"="+value)
	}
	run := func(args []string) string {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, program(t), args...)
		cmd.Env = variables
		out, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		for chunk := make([]byte, 4096); !strings.Contains(log.String(), askedForCluster); {
			n, err := out.Read(chunk)
			log.Write(chunk[:n])
			if err != nil {
				break
			}
		}
		cancel()
		io.Copy(io.Discard, out)
		cmd.Wait()
		return log.String()
	}
	certificate := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--nosql-tls=/") })
	if certificate >= 0 {
		file, _, _ := strings.Cut(strings.TrimPrefix(args[certificate], "--nosql-tls="), ",")
		if log := run(args); !strings.Contains(log, "open "+file) {
			t.Errorf("mayfly %q does not read the certificate: %s", args, log)
		}
		args = slices.Clone(args)
		args[certificate] = "--nosql-tls=off"
	}
	if log := run(args); !strings.Contains(log, askedForCluster) {
		t.Errorf("mayfly %q with %q: %s", args, variables, log)
	}
	delete(env, "MAYFLY_KEY")
	variables = file.Config.Env
	if log := run(args); !strings.Contains(log, "--key") {
		t.Errorf("mayfly %q starts without a key: %s", args, log)
	}
}

// askedForCluster is what mayfly logs when its settings are right and PD does not answer.
const askedForCluster = "failed to get cluster id"

func TestClusterCompose(t *testing.T) {
	load := func(env compose.Mapping) (*compose.Project, error) {
		return loader.LoadWithContext(t.Context(), compose.ConfigDetails{
			WorkingDir: deploy("cluster"), Environment: env,
			ConfigFiles: compose.ToConfigFiles([]string{deploy("cluster", "compose.yaml")}),
		})
	}
	if _, err := load(nil); err == nil || !strings.Contains(err.Error(), "MAYFLY_KEY") {
		t.Errorf("without a key: %v", err)
	}
	project, err := load(compose.Mapping{"MAYFLY_KEY": "a2V5"})
	if err != nil {
		t.Fatal(err)
	}
	pds, published := map[string][]string{}, map[string]bool{}
	for name, s := range project.Services {
		for _, p := range s.Ports {
			if p.HostIP != "127.0.0.1" || published[p.Published] {
				t.Errorf("%s publishes %+v, want each port once, for this machine only", name, p)
			}
			published[p.Published] = true
		}
		if strings.HasPrefix(name, "pd") {
			pds[name] = s.Command
		}
		for other := range s.DependsOn {
			if _, ok := project.Services[other]; !ok {
				t.Errorf("%s waits for %s", name, other)
			}
		}
	}
	if len(pds) != 3 {
		t.Fatalf("%d PD", len(pds))
	}
	pd := wantPD(t, pds, func(name string) string { return name })
	for i := 1; i <= 3; i++ {
		name := func(kind string) string { return fmt.Sprint(kind, i) }
		for _, kind := range []string{"pd", "tikv"} {
			s := project.Services[name(kind)]
			if s.Image != "pingcap/"+kind+":"+clusterVersion || s.Restart != "unless-stopped" ||
				len(s.Volumes) != 1 || s.Volumes[0].Source != name(kind) || s.Volumes[0].Target != "/data" {
				t.Errorf("%s: image %s, volumes %+v, restart %s", s.Name, s.Image, s.Volumes, s.Restart)
			}
		}
		store := project.Services[name("tikv")]
		wantTiKV(t, store.Command, store.Name, pd)
		if files := store.Ulimits["nofile"]; files == nil || files.Single < 123_880 {
			t.Errorf("%s has %+v open files", store.Name, files)
		}
		s := project.Services[name("mayfly")]
		file, _ := dockerImage(t)
		if !strings.HasPrefix(s.Image, imageName+":") || !s.ReadOnly || s.Restart != "unless-stopped" ||
			!slices.Equal(s.HealthCheck.Test, file.Config.Healthcheck.Test) ||
			time.Duration(*s.StopGracePeriod) <= stopTime {
			t.Errorf("%s: %+v", s.Name, s)
		}
		for _, p := range s.Ports {
			if !slices.Contains(imagePorts(t), itoa(p.Target)) {
				t.Errorf("%s: nothing listens on %d", s.Name, p.Target)
			}
		}
	}
	s := project.Services["mayfly1"]
	env := map[string]string{}
	for name, value := range s.Environment {
		env[name] = *value
	}
	wantMayfly(t, s.Command, env, pd)
	for _, name := range []string{"mayfly2", "mayfly3"} {
		if other := project.Services[name]; !slices.Equal(other.Command, s.Command) {
			t.Errorf("%s runs %q, and mayfly1 %q", name, other.Command, s.Command)
		}
	}
	wantBalancer(t, project)
	for _, page := range []string{"../docs/cluster.md", deploy("cluster", "compose.yaml")} {
		calls := regexp.MustCompile(`localhost:(\d+)`).FindAllStringSubmatch(string(readFile(t, page)), -1)
		for _, call := range calls {
			if !published[call[1]] {
				t.Errorf("%s calls %s, which nobody publishes", page, call[0])
			}
		}
		if len(calls) == 0 {
			t.Errorf("%s does not say how to call mayfly", page)
		}
	}
}

// wantBalancer checks that the balancer has a way to each mayfly, by ports that it publishes.
func wantBalancer(t *testing.T, project *compose.Project) {
	t.Helper()
	s := project.Services["balancer"]
	if strings.HasSuffix(s.Image, ":latest") || !strings.Contains(s.Image, ":") {
		t.Errorf("the image of the balancer is %s", s.Image)
	}
	text, err := os.ReadFile(s.Volumes[0].Source)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.Ports {
		_, section, ok := strings.Cut(string(text), "bind :"+itoa(p.Target)+"\n")
		section, _, _ = strings.Cut(section, "\n\n")
		servers := regexp.MustCompile(`(?m)^  server (\S+) (\S+)$`).FindAllStringSubmatch(section, -1)
		if !ok || len(servers) != 3 {
			t.Errorf("port %d leads to %q", p.Target, servers)
		}
		for i, server := range servers {
			name, port := fmt.Sprint("mayfly", i+1), itoa(p.Target)
			if server[1] != name || server[2] != name+":"+port || !slices.Contains(imagePorts(t), port) {
				t.Errorf("port %d leads to %q", p.Target, server)
			}
		}
	}
	// With a name in it: mayfly may refuse a request without one.
	const ask = "http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host localhost\n"
	if !strings.Contains(string(text), ask) || !strings.Contains(string(text), "check port 8080 ") {
		t.Error("the balancer does not ask whether mayfly is ready")
	}
}

// clusterManifest decodes an object of the manifests for a cluster.
func clusterManifest[T any](t *testing.T, file, kind, name string) T {
	t.Helper()
	return manifest[T](t, deploy("cluster", "kubernetes", file+".yaml"), kind, name)
}

// wantSelected checks that objects name the labels of the pods, and that ports of services are those of containers.
func wantSelected(t *testing.T, pod corev1.PodTemplateSpec, budget policyv1.PodDisruptionBudget,
	services ...corev1.Service) {
	t.Helper()
	selectors := []map[string]string{budget.Spec.Selector.MatchLabels}
	affinity := pod.Spec.Affinity.PodAntiAffinity
	for _, term := range affinity.RequiredDuringSchedulingIgnoredDuringExecution {
		selectors = append(selectors, term.LabelSelector.MatchLabels)
	}
	for _, term := range affinity.PreferredDuringSchedulingIgnoredDuringExecution {
		selectors = append(selectors, term.PodAffinityTerm.LabelSelector.MatchLabels)
	}
	ports := map[string]int32{}
	for _, p := range pod.Spec.Containers[0].Ports {
		ports[p.Name] = p.ContainerPort
	}
	for _, service := range services {
		selectors = append(selectors, service.Spec.Selector)
		for _, p := range service.Spec.Ports {
			if ports[p.TargetPort.String()] != p.Port {
				t.Errorf("port %+v of %s leads nowhere", p, service.Name)
			}
		}
	}
	if len(selectors) != len(services)+2 {
		t.Errorf("%d selectors: the pods may all be on one node", len(selectors))
	}
	for _, selector := range selectors {
		if !maps.Equal(selector, pod.Labels) {
			t.Errorf("%v selects pods with %v", selector, pod.Labels)
		}
	}
	if budget.Spec.MaxUnavailable == nil || *budget.Spec.MaxUnavailable != intstr.FromInt32(1) {
		t.Errorf("%s lets %v go at a time", budget.Name, budget.Spec.MaxUnavailable)
	}
	if pod.Spec.EnableServiceLinks == nil || *pod.Spec.EnableServiceLinks {
		t.Error("the environment has variables of services")
	}
}

// hosts are the names of a set's pods by its headless service.
func hosts(t *testing.T, set appsv1.StatefulSet, service corev1.Service) (names []string) {
	t.Helper()
	if set.Spec.ServiceName != service.Name || service.Spec.ClusterIP != corev1.ClusterIPNone ||
		!service.Spec.PublishNotReadyAddresses || set.Spec.PodManagementPolicy != appsv1.ParallelPodManagement {
		t.Errorf("%s: pods cannot find each other by %+v", set.Name, service.Spec)
	}
	if *set.Spec.Replicas != 3 {
		t.Errorf("%d replicas of %s", *set.Spec.Replicas, set.Name)
	}
	for i := range *set.Spec.Replicas {
		names = append(names, fmt.Sprintf("%s-%d", set.Name, i))
	}
	return names
}

// argsOf are the arguments of a container in a pod with a name.
func argsOf(t *testing.T, c corev1.Container, pod string) (args []string) {
	t.Helper()
	if c.Env[0].Name != "POD_NAME" || c.Env[0].ValueFrom.FieldRef.FieldPath != "metadata.name" {
		t.Errorf("%s does not know its name: %+v", c.Name, c.Env)
	}
	for _, arg := range c.Args {
		args = append(args, strings.ReplaceAll(arg, "$(POD_NAME)", pod))
	}
	return args
}

func TestClusterKubernetes(t *testing.T) {
	driver := clusterManifest[appsv1.StatefulSet](t, "pd", "StatefulSet", "mayfly-pd")
	drivers := clusterManifest[corev1.Service](t, "pd", "Service", "mayfly-pd")
	pds := map[string][]string{}
	for _, name := range hosts(t, driver, drivers) {
		pds[name] = argsOf(t, driver.Spec.Template.Spec.Containers[0], name)
	}
	pd := wantPD(t, pds, func(name string) string { return name + "." + drivers.Name })
	wantSelected(t, driver.Spec.Template,
		clusterManifest[policyv1.PodDisruptionBudget](t, "pd", "PodDisruptionBudget", "mayfly-pd"), drivers)

	store := clusterManifest[appsv1.StatefulSet](t, "tikv", "StatefulSet", "mayfly-tikv")
	stores := clusterManifest[corev1.Service](t, "tikv", "Service", "mayfly-tikv")
	for _, name := range hosts(t, store, stores) {
		wantTiKV(t, argsOf(t, store.Spec.Template.Spec.Containers[0], name), name+"."+stores.Name, pd)
	}
	wantSelected(t, store.Spec.Template,
		clusterManifest[policyv1.PodDisruptionBudget](t, "tikv", "PodDisruptionBudget", "mayfly-tikv"), stores)

	for image, set := range map[string]appsv1.StatefulSet{"pingcap/pd": driver, "pingcap/tikv": store} {
		c := set.Spec.Template.Spec.Containers[0]
		if c.Image != image+":"+clusterVersion {
			t.Errorf("image %s, want %s:%s", c.Image, image, clusterVersion)
		}
		if claim := set.Spec.VolumeClaimTemplates[0]; claim.Name != c.VolumeMounts[0].Name ||
			c.VolumeMounts[0].MountPath != "/data" {
			t.Errorf("%s keeps %+v in %+v", set.Name, c.VolumeMounts, claim.Name)
		}
		if !maps.Equal(set.Spec.Selector.MatchLabels, set.Spec.Template.Labels) {
			t.Errorf("%s selects %v", set.Name, set.Spec.Selector.MatchLabels)
		}
	}
	wantProcesses(t, pd)
}

// wantProcesses checks the mayfly of a cluster.
func wantProcesses(t *testing.T, pd string) {
	t.Helper()
	deployment := clusterManifest[appsv1.Deployment](t, "mayfly", "Deployment", "mayfly")
	seeds := clusterManifest[corev1.Service](t, "mayfly", "Service", "mayfly-mongo")
	wantSelected(t, deployment.Spec.Template,
		clusterManifest[policyv1.PodDisruptionBudget](t, "mayfly", "PodDisruptionBudget", "mayfly"),
		clusterManifest[corev1.Service](t, "mayfly", "Service", "mayfly"), seeds)
	// Drivers ask for _mongodb._tcp.HOST, and the DNS of Kubernetes has _PORT._tcp.SERVICE.
	// https://github.com/mongodb/specifications/blob/master/source/initial-dns-seedlist-discovery
	if seeds.Spec.ClusterIP != corev1.ClusterIPNone || seeds.Spec.Ports[0].Name != "mongodb" {
		t.Errorf("mongodb+srv:// does not find the pods by %+v", seeds.Spec)
	}
	if *deployment.Spec.Replicas != 3 ||
		!maps.Equal(deployment.Spec.Selector.MatchLabels, deployment.Spec.Template.Labels) {
		t.Errorf("%d replicas by %v", *deployment.Spec.Replicas, deployment.Spec.Selector)
	}
	pod := deployment.Spec.Template.Spec
	c := pod.Containers[0]
	if s := pod.SecurityContext; !*s.RunAsNonRoot || *s.RunAsUser != nobody || *s.FSGroup != nobody ||
		!*c.SecurityContext.ReadOnlyRootFilesystem || *c.SecurityContext.AllowPrivilegeEscalation {
		t.Errorf("runs as %+v, %+v", s, c.SecurityContext)
	}
	pause := time.Duration(c.Lifecycle.PreStop.Sleep.Seconds) * time.Second
	if time.Duration(*pod.TerminationGracePeriodSeconds)*time.Second <= stopTime+pause {
		t.Errorf("stops within %d s", *pod.TerminationGracePeriodSeconds)
	}
	for _, probe := range []struct {
		*corev1.Probe
		path string
	}{{c.StartupProbe, "/readyz"}, {c.ReadinessProbe, "/readyz"}, {c.LivenessProbe, "/healthz"}} {
		if probe.HTTPGet.Path != probe.path || probe.HTTPGet.Port.String() != "admin" {
			t.Errorf("a probe of %s at %s", probe.HTTPGet.Path, probe.HTTPGet.Port.String())
		}
	}
	for _, p := range c.Ports {
		if !slices.Contains(imagePorts(t), itoa(uint32(p.ContainerPort))) {
			t.Errorf("nothing listens on %d", p.ContainerPort)
		}
	}
	if key := c.Env[0]; key.Name != "MAYFLY_KEY" || key.ValueFrom.SecretKeyRef.Name == "" || len(c.Env) != 1 {
		t.Errorf("the key is no secret: %+v", c.Env)
	}
	mounted := slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool {
		return v.Name == c.VolumeMounts[0].Name && v.Secret != nil
	})
	tls := "--nosql-tls=" + c.VolumeMounts[0].MountPath + "/tls.crt," + c.VolumeMounts[0].MountPath + "/tls.key"
	if !mounted || !slices.Contains(c.Args, tls) {
		t.Errorf("%q does not read the certificate of the secret, %s", c.Args, tls)
	}
	wantMayfly(t, c.Args, map[string]string{"MAYFLY_KEY": "a2V5"}, pd)
}

// TestClusterOption takes the comments from the manifest's lines about TLS to the cluster.
func TestClusterOption(t *testing.T) {
	path := deploy("cluster", "kubernetes", "mayfly.yaml")
	text := regexp.MustCompile(`(?m)^( +)# (- .*|  secret: .*)$`).ReplaceAll(readFile(t, path), []byte("$1$2"))
	changed := t.TempDir() + "/mayfly.yaml"
	if err := os.WriteFile(changed, text, 0o600); err != nil {
		t.Fatal(err)
	}
	pod := manifest[appsv1.Deployment](t, changed, "Deployment", "mayfly").Spec.Template.Spec
	c := pod.Containers[0]
	wantFlags(t, c.Args)
	const want = "--engine-tls=/cluster-tls/ca.crt,/cluster-tls/tls.crt,/cluster-tls/tls.key"
	if !slices.Contains(c.Args, want) || len(c.VolumeMounts) != 2 || len(pod.Volumes) != 2 ||
		pod.Volumes[1].Name != c.VolumeMounts[1].Name || c.VolumeMounts[1].MountPath != "/cluster-tls" ||
		pod.Volumes[1].Secret == nil {
		t.Errorf("with TLS it runs with %q, %+v, %+v", c.Args, c.VolumeMounts, pod.Volumes)
	}
}
