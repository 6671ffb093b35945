{{/* A native sidecar: among the initContainers of a pod, before those that call the API. */}}
{{- define "bearerd.sidecar" -}}
- name: bearerd
  {{- include "bearerd.image" . | nindent 2 }}
  restartPolicy: Always
  env:
    {{- $preset := dict "BEARERD_DRAIN_TIMEOUT" (dict "key" "drainTimeout" "value" "20s") }}
    {{- include "bearerd.environment" (dict "Values" .Values "preset" $preset) | trim | nindent 4 }}
  {{- if .Values.sidecar.waitForToken }}
  startupProbe:
    exec:
      command: [bearerd, wait, --timeout, 50s]
    timeoutSeconds: 60
    periodSeconds: 1
    failureThreshold: 10
  {{- end }}
  readinessProbe:
    exec:
      command: [bearerd, healthcheck]
    timeoutSeconds: 5
    periodSeconds: 15
  resources:
    {{- toYaml .Values.sidecar.resources | nindent 4 }}
  securityContext:
    {{- include "bearerd.securityContext" . | nindent 4 }}
  volumeMounts:
    {{- include "bearerd.volumeMounts" . | trim | nindent 4 }}
{{- end -}}
