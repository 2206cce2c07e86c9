package exec

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/subprocess"
	"github.com/webrace/webrace/pipeline"
)

// TestEnvironmentIsWhatIsNamed has a program print the environment that it was given.
func TestEnvironmentIsWhatIsNamed(t *testing.T) {
	for name, value := range map[string]string{
		"WEBRACE_ADMIN_TOKEN": "hush", "WEBRACE_DATA": "/hush", "AWS_SECRET_ACCESS_KEY": "hush", "TZ": "Asia/Tokyo", "LANG": "C.UTF-8",
	} {
		t.Setenv(name, value)
	}
	o := options("work", func(o *Options) {
		o.Env["NAMED"], o.Env["LANG"] = pipeline.NewSecret("of=it"), pipeline.NewSecret("el_GR.UTF-8")
	})
	var given []string
	if err := json.Unmarshal([]byte(try(t, o, "environment").Out[""][0].(string)), &given); err != nil {
		t.Fatal(err)
	}
	slices.Sort(given)
	t.Logf("the program's environment:\n  %s", strings.Join(given, "\n  "))
	for _, variable := range given {
		if strings.Contains(variable, "hush") {
			t.Errorf("it was given %s", variable)
		}
	}
	for _, want := range []string{"NAMED=of=it", "PROGRAM=work", "TZ=Asia/Tokyo", "LANG=el_GR.UTF-8"} {
		if !slices.Contains(given, want) {
			t.Errorf("it was not given %s", want)
		}
	}
	if most := len(subprocess.Environment(o.environment())); len(given) > most {
		t.Errorf("it was given %d variables, and %d were named", len(given), most)
	}
}
