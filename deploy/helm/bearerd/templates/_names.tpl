{{/*
As charts do: the release's name, unless that says bearerd already. A Service's name begins with a letter and has no dots
(RFC 1035), which a release's may have.
*/}}
{{- define "bearerd.name" -}}
{{- $name := .Release.Name | replace "." "-" -}}
{{- if not (contains "bearerd" $name) -}}{{- $name = printf "%s-bearerd" $name -}}{{- end -}}
{{- if regexMatch "^[0-9]" $name -}}{{- $name = printf "bearerd-%s" $name -}}{{- end -}}
{{- $name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "bearerd.selector" -}}
app.kubernetes.io/name: bearerd
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "bearerd.labels" -}}
{{ include "bearerd.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
{{- end -}}
