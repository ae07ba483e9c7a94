// Package deploy has only tests: the manifests for Kubernetes and the compose file are valid, and say what a cluster relies on.
package deploy

import (
	"os"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// objects are what a kustomization makes.
type objects struct {
	deployment appsv1.Deployment
	service    corev1.Service
	config     corev1.ConfigMap
	budget     policyv1.PodDisruptionBudget
}

// build makes the objects of a folder. A field that Kubernetes does not have, and a kind that is not expected, fail the test.
func build(t *testing.T, folder string) (o objects) {
	t.Helper()
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]any{"Deployment": &o.deployment, "Service": &o.service, "ConfigMap": &o.config, "PodDisruptionBudget": &o.budget}
	for _, r := range made.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		to := kinds[r.GetKind()]
		if to == nil {
			t.Fatalf("%s makes another %s:\n%s", folder, r.GetKind(), text)
		}
		if err := yaml.UnmarshalStrict(text, to); err != nil {
			t.Errorf("%s: %v in\n%s", folder, err, text)
		}
		delete(kinds, r.GetKind())
	}
	if len(kinds) > 0 {
		t.Fatalf("%s makes no %v", folder, kinds)
	}
	return o
}

func TestManifests(t *testing.T) {
	for _, folder := range []string{"kubernetes/base", "kubernetes/overlays/example"} {
		t.Run(folder, func(t *testing.T) {
			o := build(t, folder)
			pod := o.deployment.Spec.Template
			if len(pod.Spec.Containers) != 1 {
				t.Fatalf("the pod has %d containers", len(pod.Spec.Containers))
			}
			c := pod.Spec.Containers[0]
			t.Run("the selectors choose the pods", func(t *testing.T) {
				for what, selector := range map[string]map[string]string{
					"deployment": o.deployment.Spec.Selector.MatchLabels, "service": o.service.Spec.Selector, "budget": o.budget.Spec.Selector.MatchLabels,
				} {
					for name, value := range selector {
						if pod.Labels[name] != value || len(selector) == 0 {
							t.Errorf("the %s selects %s=%s, and the pods have %v", what, name, value, pod.Labels)
						}
					}
				}
			})
			t.Run("ports of the service and of probes are ports of the container", func(t *testing.T) {
				names := map[string]bool{}
				for _, p := range c.Ports {
					names[p.Name] = true
				}
				wanted := []string{c.ReadinessProbe.HTTPGet.Port.StrVal, c.LivenessProbe.TCPSocket.Port.StrVal, c.StartupProbe.TCPSocket.Port.StrVal}
				for _, p := range o.service.Spec.Ports {
					wanted = append(wanted, p.TargetPort.StrVal)
				}
				for _, name := range wanted {
					if !names[name] {
						t.Errorf("the container has no port %q", name)
					}
				}
			})
			t.Run("the server may do nothing but its work", func(t *testing.T) { confined(t, pod.Spec, c) })
			t.Run("a server that stops has time to hand over", func(t *testing.T) {
				if grace := *pod.Spec.TerminationGracePeriodSeconds; grace < c.Lifecycle.PreStop.Sleep.Seconds+30 {
					t.Errorf("%d s, of which it waits %d s before it begins", grace, c.Lifecycle.PreStop.Sleep.Seconds)
				}
				if most := o.budget.Spec.MaxUnavailable.IntValue(); most != 1 || *o.deployment.Spec.Replicas < 3 {
					t.Errorf("%d of %d servers may be unavailable", most, *o.deployment.Spec.Replicas)
				}
			})
			t.Run("settings are in the reference", func(t *testing.T) {
				reference, err := os.ReadFile("../docs/configuration.md")
				if err != nil {
					t.Fatal(err)
				}
				for name := range o.config.Data {
					if !strings.Contains(string(reference), "`"+name+"`") {
						t.Errorf("docs/configuration.md has no %s", name)
					}
				}
			})
			t.Run("secrets are in no manifest", func(t *testing.T) {
				if len(c.Env) > 0 || len(c.EnvFrom) != 2 || c.EnvFrom[0].ConfigMapRef.Name != o.config.Name || c.EnvFrom[1].SecretRef.Name == "" {
					t.Errorf("the environment is %+v and %+v", c.Env, c.EnvFrom)
				}
				for name := range o.config.Data {
					if strings.HasPrefix(name, "UNLOOP_DB") || strings.HasPrefix(name, "UNLOOP_TOKENS") || strings.HasPrefix(name, "UNLOOP_CLUSTER_NATS") {
						t.Errorf("the config map has %s", name)
					}
				}
			})
		})
	}
}

func confined(t *testing.T, pod corev1.PodSpec, c corev1.Container) {
	s := c.SecurityContext
	if !*pod.SecurityContext.RunAsNonRoot || *pod.SecurityContext.RunAsUser == 0 || *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem ||
		len(s.Capabilities.Drop) != 1 || s.Capabilities.Drop[0] != "ALL" || *pod.AutomountServiceAccountToken {
		t.Errorf("the pod has %+v, the container %+v", pod.SecurityContext, s)
	}
	if len(c.VolumeMounts) != 1 || len(pod.Volumes) != 1 || pod.Volumes[0].EmptyDir == nil || c.VolumeMounts[0].Name != pod.Volumes[0].Name {
		t.Errorf("the volumes are %+v, mounted as %+v", pod.Volumes, c.VolumeMounts)
	}
}

func TestAFieldThatKubernetesDoesNotHaveIsAnError(t *testing.T) {
	var d appsv1.Deployment
	if err := yaml.UnmarshalStrict([]byte("spec: {replicas: 3, repliccas: 3}"), &d); err == nil {
		t.Error("it is none")
	}
}

func TestCompose(t *testing.T) {
	options, err := cli.NewProjectOptions([]string{"compose.cluster.yaml"}, cli.WithEnv([]string{"POSTGRES_PASSWORD=p", "UNLOOP_TOKEN_SHA256=s"}))
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	published := map[string]string{}
	for name, service := range project.Services {
		for _, p := range service.Ports {
			if other := published[p.Published]; other != "" || p.HostIP != "127.0.0.1" {
				t.Errorf("%s publishes %s:%s, as %q does", name, p.HostIP, p.Published, other)
			}
			published[p.Published] = name
		}
		if strings.HasPrefix(name, "unloop") {
			reaches(t, project, name, service)
		}
	}
	if len(project.Services) != 7 {
		t.Errorf("there are %d services", len(project.Services))
	}
}

// reaches checks that a server waits for all that its addresses name.
func reaches(t *testing.T, project *types.Project, name string, service types.ServiceConfig) {
	t.Helper()
	addresses := *service.Environment["UNLOOP_DB"] + *service.Environment["UNLOOP_CLUSTER_NATS"]
	if !service.ReadOnly || len(service.DependsOn) != 4 {
		t.Errorf("%s waits for %v, read-only %v", name, service.DependsOn, service.ReadOnly)
	}
	for other := range service.DependsOn {
		if !strings.Contains(addresses, other) || project.Services[other].HealthCheck == nil {
			t.Errorf("%s waits for %s, which it does not use or which has no health check", name, other)
		}
	}
	if !strings.Contains(addresses, "nats://nats1:4222,nats://nats2:4222,nats://nats3:4222") {
		t.Errorf("%s has the addresses %s", name, addresses)
	}
}
