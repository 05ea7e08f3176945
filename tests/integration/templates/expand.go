// Expands annotations as Grafana does: text/template with the prefix, the option and the types of
// pkg/services/ngalert/state/template/template.go. Reads a JSON list of jobs, writes a list of texts.
package main

import (
	"encoding/json"
	"os"
	"runtime"
	"strconv"
	"strings"
	"text/template"
)

const prefix = "{{- $labels := .Labels -}}{{- $values := .Values -}}{{- $value := .Value -}}"

// A job without a sample has no values at all.
type job struct {
	Text   string
	Sample *string
}

type value struct {
	Labels map[string]string
	Value  float64
}

type data struct {
	Labels map[string]string
	Values map[string]value
	Value  string
}

func expand(j job) (string, error) {
	d := data{Labels: map[string]string{}, Values: map[string]value{}}
	if j.Sample != nil {
		number, err := strconv.ParseFloat(*j.Sample, 64)
		if err != nil {
			return "", err
		}
		d.Values["B"] = value{Value: number}
	}
	parsed, err := template.New("__alert_annotation").Option("missingkey=invalid").Parse(prefix + j.Text)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	err = parsed.Execute(&text, d)
	return strings.ReplaceAll(text.String(), "<no value>", "[no value]"), err
}

func main() {
	var jobs []job
	if err := json.NewDecoder(os.Stdin).Decode(&jobs); err != nil {
		panic(err)
	}
	texts := []string{}
	for _, j := range jobs {
		text, err := expand(j)
		if err != nil {
			text = "error: " + err.Error()
		}
		texts = append(texts, text)
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{"version": runtime.Version(), "texts": texts})
}
