{{/* What a container of bearerd has, wherever it stands. */}}
{{- define "bearerd.image" -}}
{{- if .Values.image.digest -}}
image: {{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
image: {{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- end -}}

{{/*
Takes .Values, and a .preset: variable to the key of `config` that says the same, and the value where neither `settings` nor
`config` gives one. Variables win over the file, so a preset would beat what `config` says.
A number is a float here, and a large one would get an exponent. extraEnv comes first, so that settings can refer to it: $(POD_IP).
*/}}
{{- define "bearerd.environment" -}}
{{- with .Values.extraEnv }}
{{- toYaml . | nindent 0 }}
{{- end }}
{{- $settings := merge (dict) .Values.settings }}
{{- range $variable, $preset := .preset }}
{{- if not (include "bearerd.given" (dict "Values" $.Values "variable" $variable "key" $preset.key)) }}
{{- $_ := set $settings $variable $preset.value }}
{{- end }}
{{- end }}
{{- range $name, $value := $settings }}
- name: {{ $name }}
  value: {{ if kindIs "float64" $value }}{{ toJson $value | quote }}{{ else }}{{ quote $value }}{{ end }}
{{- end }}
{{- range $name, $key := .Values.secretFiles }}
- name: {{ $name }}
  value: /run/secrets/bearerd/{{ $key }}
{{- end }}
{{- if .Values.config }}
- name: BEARERD_CONFIG
  value: /etc/bearerd/bearerd.yaml
{{- end }}
{{- end -}}

{{/* What a setting is, by .variable in `settings` or else by .key (`admin.listen`) in `config`; lists become comma lists. */}}
{{- define "bearerd.given" -}}
{{- $at := .Values.config -}}
{{- range splitList "." .key -}}
{{- if kindIs "map" $at }}{{ $at = get $at . }}{{ end -}}
{{- end -}}
{{- join "," (get .Values.settings .variable | default $at) -}}
{{- end -}}

{{- define "bearerd.securityContext" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "bearerd.volumeMounts" -}}
{{- if .Values.secretName }}
- name: bearerd-secrets
  mountPath: /run/secrets/bearerd
  readOnly: true
{{- end }}
{{- if .Values.config }}
- name: bearerd-config
  mountPath: /etc/bearerd
  readOnly: true
{{- end }}
{{- if .Values.sharedFolder }}
- name: bearerd-shared
  mountPath: {{ .Values.sharedFolder }}
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{- toYaml . | nindent 0 }}
{{- end }}
{{- end -}}

{{/* For the pod. */}}
{{- define "bearerd.volumes" -}}
{{- if .Values.secretName }}
- name: bearerd-secrets
  secret:
    secretName: {{ .Values.secretName }}
{{- else if .Values.secretFiles }}
{{- fail "secretFiles are keys of a Secret: give its name as secretName" }}
{{- end }}
{{- if .Values.config }}
- name: bearerd-config
  configMap:
    name: {{ include "bearerd.name" . }}
{{- end }}
{{- if .Values.sharedFolder }}
- name: bearerd-shared
  emptyDir:
    medium: Memory
    sizeLimit: 1Mi
{{- end }}
{{- with .Values.extraVolumes }}
{{- toYaml . | nindent 0 }}
{{- end }}
{{- end -}}

{{/* Among the annotations of the pod: a changed configuration takes a new pod. */}}
{{- define "bearerd.annotations" -}}
bearerd/config: {{ toYaml .Values.config | sha256sum }}
{{- end -}}
