{{/* As charts do: the release's name, unless that says bearerd already. */}}
{{- define "bearerd.name" -}}
{{- if contains "bearerd" .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-bearerd" .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
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
