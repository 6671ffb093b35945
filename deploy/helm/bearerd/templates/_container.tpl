{{/* What a container of bearerd has, wherever it stands. */}}
{{- define "bearerd.image" -}}
{{- if .Values.image.digest -}}
image: {{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
image: {{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- end -}}

{{/* Takes .Values, and a .preset that settings win over. A number is a float here, and a large one would get an exponent. */}}
{{- define "bearerd.environment" -}}
{{- range $name, $value := merge (dict) .Values.settings .preset }}
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

{{- define "bearerd.securityContext" -}}
runAsUser: 1000
runAsGroup: 1000
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "bearerd.volumeMounts" -}}
- name: bearerd-secrets
  mountPath: /run/secrets/bearerd
  readOnly: true
{{- if .Values.config }}
- name: bearerd-config
  mountPath: /etc/bearerd
  readOnly: true
{{- end }}
{{- if .Values.sharedFolder }}
- name: bearerd-shared
  mountPath: {{ .Values.sharedFolder }}
{{- end }}
{{- end -}}

{{/* For the pod. */}}
{{- define "bearerd.volumes" -}}
- name: bearerd-secrets
  secret:
    secretName: {{ .Values.secretName }}
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
{{- end -}}

{{/* Among the annotations of the pod: a changed configuration takes a new pod. */}}
{{- define "bearerd.annotations" -}}
bearerd/config: {{ toYaml .Values.config | sha256sum }}
{{- end -}}
