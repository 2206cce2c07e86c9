package cluster

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/webrace/webrace/pipeline/config"
	_ "github.com/webrace/webrace/stages/all"
)

func TestThePipelinesFitACluster(t *testing.T) {
	t.Parallel()
	given := map[string]string{"WEBRACE_DATABASE": "postgres://webrace@127.0.0.1/webrace", "HOSTNAME": "webrace-2"}
	loaded, err := config.Load("pipelines.toml", config.LoadOptions{Env: func(name string) (string, bool) { value, is := given[name]; return value, is }})
	if err != nil {
		t.Fatal(err)
	}
	if loaded.Cluster == nil || loaded.Cluster.Node != 2 {
		t.Errorf("webrace-2 is %+v", loaded.Cluster)
	}
	shipped := read(t, "../../pipelines.toml")
	for _, flow := range regexp.MustCompile(`(?m)^  "[^"]* > [^"]*"|^flow = \[".*"\]$`).FindAllString(read(t, "pipelines.toml"), -1) {
		if !strings.Contains(shipped, flow) {
			t.Errorf("the shipped pipelines have no %s", flow)
		}
	}
}

// What both say is YAML, and gives the nodes what pipelines.toml asks for.
func TestNodesAreGivenWhatTheirPipelinesAskFor(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"compose.yaml", "kubernetes.yaml"} {
		text := read(t, name)
		for _, variable := range []string{"WEBRACE_DATABASE", "WEBRACE_CONTACT", "WEBRACE_SECRETS_KEY"} {
			if !strings.Contains(text, variable) || !strings.Contains(read(t, "pipelines.toml"), "${"+variable) {
				t.Errorf("%s does not give the nodes %s, or pipelines.toml does not ask for it", name, variable)
			}
		}
		if err := exec.Command("python3", "-c", "import yaml").Run(); err != nil {
			t.Skip("python3 has no yaml to read it with (apt-get install python3-yaml)")
		}
		if said, err := exec.Command("python3", "-c", "import sys, yaml; list(yaml.safe_load_all(open(sys.argv[1])))", name).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, said)
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
